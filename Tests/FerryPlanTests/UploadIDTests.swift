import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

struct UploadIDTests {
  private func steps(_ world: World, _ path: String) -> [Step.Kind] {
    world.starts.filter { $0.path == path }.map(\.attempt.step)
  }

  /// The reply to a request that has sent its whole file.
  private func sending(_ call: Call, _ reply: Reply) -> Reply {
    var reply = reply
    reply.sent = call.size
    return reply
  }

  @Test func anItemIsAllocatedTransferredAndCommittedInThatOrder() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(5)) { _ in .status(200) }
    world.run()
    for file in 0..<5 { #expect(steps(world, "f0\(file)") == [.allocate, .transfer, .commit]) }
    #expect(world.scheduler.totals.items.done == 5)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func laterStepsGoFirstInAHostQueueOncePrecedingStepsAreOnDisk() throws {
    let head = Yaml.head.replacing("max_connections_per_host: 2", with: "max_connections_per_host: 1")
    var world = try World(Yaml.ids(head: head), files: Yaml.files(3)) { _ in .status(200) }
    world.run()
    let steps = world.starts.map(\.attempt.step)
    // While the end of a transfer is being recorded, the connection is free for the first step of the next item.
    #expect(
      steps == [.allocate, .transfer, .allocate, .commit, .transfer, .allocate, .commit, .transfer, .commit])
  }

  @Test func noMoreUploadIDsAreAllocatedAheadThanThereAreConnections() throws {
    let head = Yaml.head.replacing(
      "s: { max_connections_per_host: 2 }",
      with: "s: { max_connections_per_host: 2 }, quick: { max_connections_per_host: 20 }")
    let yaml = Yaml.ids(head: head).replacing("allocate:\n", with: "allocate:\n      session: quick\n")
    var world = try World(yaml, files: Yaml.files(30)) { call in
      .status(200, after: call.step == .transfer ? .seconds(5) : .milliseconds(1))
    }
    world.run()
    var ahead: Set<String> = []
    var most = 0
    for start in world.starts {
      if start.attempt.step == .allocate { ahead.insert(start.path) } else { ahead.remove(start.path) }
      most = max(most, ahead.count)
    }
    #expect(most == 2)
    #expect(world.scheduler.totals.items.done == 30)
  }

  @Test(arguments: [404, 410])
  func anIDThatTheServerDoesNotKnowIsReplaced(status: Int) throws {
    var world = try World(Yaml.ids(), files: Yaml.files(1)) { call in
      .status(call.step == .transfer && call.number == 1 ? status : 200)
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .allocate, .transfer, .commit])
    #expect(world.scheduler.totals.idsExpired == 1)
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The server has received the file, but no longer knows the ID under which it was sent.
  @Test(arguments: [404, 410])
  func theBytesOfAnUploadThatStartsOverAtItsCommitAreResent(status: Int) throws {
    var world = try World(Yaml.ids(), files: Yaml.files(5, size: 1000)) { call in
      sending(call, .status(call.step == .commit && call.number == 1 && call.path < "f02" ? status : 200))
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .commit, .allocate, .transfer, .commit])
    #expect(steps(world, "f04") == [.allocate, .transfer, .commit])
    let bytes = world.scheduler.totals.bytes
    #expect(bytes.useful == 5000 && bytes.resent == 2000, "\(bytes)")
    #expect(world.scheduler.totals.items.done == 5 && world.scheduler.totals.idsExpired == 2)
  }

  @Test func theBytesOfAnUploadThatStartsOverAreResentAlsoIfItRemains() throws {
    var world = try World(Yaml.ids("    retry: { limit: 1 }\n"), files: Yaml.files(1, size: 1000)) { call in
      sending(call, .status(call.step == .commit ? 404 : 200))
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .commit, .allocate, .transfer, .commit])
    #expect(world.scheduler.totals.bytes.useful == 0 && world.scheduler.totals.bytes.resent == 2000)
    #expect(world.scheduler.totals.items.waiting == 1)
  }

  @Test func anIDThatIsTooOldForItsTransferIsReplaced() throws {
    // The first transfer fails with 500 and is retried after at least 12 s.
    let yaml = Yaml.ids("    retry: { initial: 12s, jitter: 0 }\n", validFor: "10s")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      .status(call.step == .transfer && call.number == 1 ? 500 : 200)
    }
    world.run()
    #expect(steps(world, "f00").prefix(3) == [.allocate, .transfer, .allocate])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.totals.idsExpired == 1)
  }

  @Test func anIDThatExpiresAtOnceIsNotRequestedIndefinitely() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(3)) { call in
      .status(200, expires: call.step == .allocate ? call.now.advanced(by: .seconds(-60)) : nil)
    }
    world.run()
    #expect(world.starts.count == 3 * 6)
    #expect(world.scheduler.totals.items.waiting == 3)
    #expect(world.scheduler.exitCode == .temporary)
  }

  @Test func aCommitWhoseResponseWasLostKeepsItsExpiredID() throws {
    let yaml = Yaml.ids("    retry: { initial: 1m }\n", validFor: "10s")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      guard call.step == .commit else { return .status(200) }
      return call.number == 1 ? .lost : .status(409)
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .commit, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func aCommitThatWasExecutedBeforeIsDone() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(1)) { .status($0.step == .commit ? 409 : 200) }
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func anUnrepeatableTransferUnderAnIDStartsOver() throws {
    var world = try World(Yaml.ids(method: "PATCH"), files: Yaml.files(1)) { call in
      call.step == .transfer && call.number == 1 ? .lost : .status(200)
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .allocate, .transfer, .commit])
    #expect(world.entries.contains(.uploadIDDiscarded(ItemRef(NodeID(0), 0))))
  }

  /// A power failure or a kill may lose all records of the transfer, so the next launch never reuses the ID.
  @Test func anUnrepeatableTransferStartsOverAfterAKill() throws {
    var world = try World(Yaml.ids(method: "PATCH"), files: Yaml.files(1)) { _ in .status(200) }
    // ferry is killed after it has queued the file, allocated and recorded its ID, and started the transfer.
    world.die(afterActions: 4)
    world.run()
    #expect(world.isDead && steps(world, "f00") == [.allocate, .transfer])
    world.die(afterActions: nil)
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.done == 1 && world.scheduler.totals.idsOrphaned == 1)
  }

  @Test func anUnrepeatableTransferThatDidNotReachTheServerKeepsItsID() throws {
    var world = try World(Yaml.ids(method: "PATCH"), files: Yaml.files(1)) { call in
      call.step == .transfer && call.number == 1 ? .refused : .status(200)
    }
    world.run()
    #expect(steps(world, "f00") == [.allocate, .transfer, .transfer, .commit])
  }

  @Test func aLaunchUsesTheIDsOfAKilledLaunch() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(2)) { _ in .status(200) }
    // ferry is killed after it has queued the files, allocated two IDs, recorded their captures, and started two
    // transfers.
    world.die(afterActions: 6)
    world.run()
    #expect(world.isDead)
    world.die(afterActions: nil)
    world.run()
    #expect(steps(world, "f00") == [.transfer, .commit])
    #expect(world.scheduler.totals.items.done == 2)
  }
}
