import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// A commit with a probe, which determines whether the commit was executed.
struct ProbeTests {
  private static let yaml = Yaml.ids(
    alreadyDone: "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }")

  private func world(_ count: Int = 1, serve: @escaping (Call) -> Reply) throws -> World {
    try World(Self.yaml, files: Yaml.files(count), serve: serve)
  }

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }

  private func intents(_ world: World) -> Int {
    world.entries.count { if case .intentRecorded = $0 { true } else { false } }
  }

  @Test func aCommitWithAResponseIsNotProbed() throws {
    var world = try world(3) { _ in .status(200) }
    world.run()
    #expect(!steps(world).contains(.probe))
    #expect(intents(world) == 3)
    #expect(world.scheduler.totals.items.done == 3)
  }

  @Test func aLostResponseIsProbedAndAPositiveResultCompletesTheItem() throws {
    var world = try world { $0.step == .commit ? .lost : .status(200) }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(intents(world) == 1)
  }

  @Test(arguments: [404, 410, 400, 409, 204])
  func anyOtherDefiniteResponseSendsTheCommitAgain(status: Int) throws {
    let yaml = Yaml.ids(
      alreadyDone: "probe: { request: { url: \"http://host/p\" }, expect: { status: [200] } }")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      if call.step == .probe { return .status(status) }
      return call.step == .commit && call.number == 1 ? .lost : .status(200)
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func aResponseWhoseBodyDoesNotMatchExpectIsNegative() throws {
    var world = try world { call in
      if call.step == .probe {
        return Reply(
          answer: .response(.init(status: 200, mismatch: "/state does not have the expected value")),
          after: .milliseconds(9))
      }
      return call.step == .commit && call.number == 1 ? .lost : .status(200)
    }
    world.run()
    #expect(steps(world).suffix(2) == [.probe, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func anUnreadableResponseIsInconclusive() throws {
    var world = try world { call in
      if call.step == .commit { return .lost }
      guard call.step == .probe, call.number == 1 else { return .status(200) }
      return Reply(
        answer: .response(.init(status: 200, mismatch: "the response is not JSON", isUnreadable: true)),
        after: .milliseconds(9))
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func aTransientResponseToTheProbeIsRetried(status: Int) throws {
    var world = try world { call in
      if call.step == .commit { return .lost }
      return .status(call.step == .probe && call.number == 1 ? status : 200)
    }
    world.run()
    #expect(steps(world).suffix(2) == [.probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The server may still be executing the commit. The manifest's `retry` determines how long ferry waits before the
  /// probe.
  @Test func theProbeIsSentAfterTheWaitOfARetry() throws {
    let yaml = Self.yaml + "    retry: { initial: 90s, max: 10m }\n"
    var world = try World(yaml, files: Yaml.files(1)) { $0.step == .commit ? .status(504) : .status(200) }
    world.run()
    let last = Array(world.starts.suffix(2))
    #expect(last.map(\.attempt.step) == [.commit, .probe])
    // The wait varies by up to 25 %.
    #expect(last[0].at.duration(to: last[1].at) >= .milliseconds(67_500))
  }

  @Test(arguments: [500, 502, 503, 504, 524])
  func aGatewayErrorCountsAsALostResponse(status: Int) throws {
    var world = try world { $0.step == .commit ? .status(status) : .status(200) }
    world.run()
    #expect(steps(world).suffix(2) == [.commit, .probe])
  }

  @Test(arguments: [429, 501, 505])
  func aCommitThatTheServerRejectedTemporarilyIsSentAgainWithoutAProbe(status: Int) throws {
    var world = try world { call in
      .status(call.step == .commit && call.number == 1 ? status : 200)
    }
    world.run()
    #expect(steps(world).suffix(2) == [.commit, .commit])
  }

  @Test(arguments: [401, 403, 407])
  func aRejectedProbeLeavesTheCommitAmbiguous(status: Int) throws {
    var world = try world { call in
      if call.step == .commit { return .lost }
      return .status(call.step == .probe ? status : 200)
    }
    world.run()
    #expect(steps(world).suffix(2) == [.commit, .probe])
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func aProbeWhoseTokenIsRejectedPermanentlyLeavesTheCommitAmbiguous() throws {
    let yaml = Yaml.ids(
      "    token: login\n", head: Yaml.head + Yaml.token,
      alreadyDone: "probe: { request: { url: \"http://host/p\" } }")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      if call.step == .commit { return .lost }
      return .status(call.step == .probe ? 401 : 200)
    }
    world.run()
    #expect(steps(world).count { $0 == .probe } == 3)
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.exitCode == .authorization)
  }

  @Test func aCommitThatALaunchMayHaveSentIsProbedByTheNext() throws {
    var world = try world(2) { call in
      call.step == .commit ? .status(200, after: .seconds(60)) : .status(200)
    }
    // Both commits are in flight when ferry is killed.
    world.launch()
    while !(steps(world).count { $0 == .commit } == 2), world.step() {}
    world.run()
    #expect(steps(world) == [.probe, .probe])
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test func aNegativeProbeInTheNextLaunchSendsTheCommit() throws {
    var world = try world { $0.step == .commit ? .status(200, after: .seconds(60)) : .status(200) }
    world.launch()
    while !steps(world).contains(.commit), world.step() {}
    world.serve = { $0.step == .probe ? .status(404) : .status(200) }
    world.run()
    #expect(steps(world) == [.probe, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// A probe could only be wrong: the server may have removed the file that waits for the commit.
  @Test(arguments: [425, 429, 501])
  func aCommitThatTheServerRejectedIsSentByTheNextLaunchWithoutAProbe(status: Int) throws {
    var world = try world { $0.step == .commit ? .status(status) : .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.serve = { $0.step == .commit ? .status(404) : .status(200) }
    world.run()
    #expect(steps(world).first == .commit && !steps(world).contains(.probe))
    #expect(world.scheduler.totals.items.done == 0)
  }

  @Test func aCommitThatWasNotSentIsSentByTheNextLaunchWithoutAProbe() throws {
    var world = try world { $0.step == .commit ? .fails(.connect, reached: false) : .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(steps(world) == [.commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The server executes the first commit after it has responded to the probe. The time between a probe and the commit
  /// must be short.
  @Test func aCommitIsProbedAgainByTheNextLaunchAfterAProbeThatDeniedIt() throws {
    var world = try world { call in
      if call.step == .commit { return .status(504) }
      return call.step == .probe ? .status(404, after: .seconds(2)) : .status(200)
    }
    world.launch()
    while !steps(world).contains(.probe), world.step() {}
    world.machine.schedule(.stop(.terminate), at: world.now.advanced(by: .milliseconds(500)))
    while world.step() {}
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe])
    world.serve = { _ in .status(200) }
    world.run()
    #expect(steps(world) == [.probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [429, 425, 401])
  func aCommitThatIsRejectedAfterAProbeIsProbedAgain(status: Int) throws {
    let yaml = Yaml.ids(
      "    token: login\n", head: Yaml.head + Yaml.token,
      alreadyDone: "probe: { request: { url: \"http://host/p\" } }")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      switch call.step {
      case .commit: .status(call.number == 1 ? 504 : status)
      case .probe: .status(call.number == 1 ? 404 : 200)
      default: .status(200)
      }
    }
    world.run()
    #expect(steps(world).filter { $0 != .token } == [.allocate, .transfer, .commit, .probe, .commit, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The only connection to the commit's host is in use when the probe has shown that the commit was not executed.
  @Test func aCommitThatWaitsAfterItsProbeIsProbedAgain() throws {
    let head = Yaml.head.replacing("max_connections_per_host: 2", with: "max_connections_per_host: 1")
    let yaml = Yaml.ids(
      head: head, alreadyDone: "probe: { request: { url: \"http://other/${allocate.id}\" } }")
    var probes = 0
    var world = try World(yaml, files: Yaml.files(2)) { call in
      let isFirst = call.attempt.ref.item == 0
      switch call.step {
      case .commit where isFirst: return .status(504)
      case .transfer where !isFirst: return .status(200, after: .seconds(60))
      case .probe:
        probes += 1
        return .status(probes == 1 ? 404 : 200)
      default: return .status(200)
      }
    }
    world.run()
    let first = world.starts.map(\.attempt).filter { $0.ref.item == 0 }.map(\.step)
    #expect(first == [.allocate, .transfer, .commit, .probe, .probe])
    #expect(world.scheduler.totals.items.done == 2)
  }

  /// After a negative probe, the commit was refused temporarily. The server may execute the first one in the meantime.
  @Test(arguments: [403, 503])
  func anItemWhoseCommitIsUnknownAgainIsNotFailed(status: Int) throws {
    let head = Yaml.head.replacing("{ max_connections_per_host: 2 }", with: "{ timeout_for_resource: 30s }")
    let yaml = Yaml.ids(
      "    retry: { limit: 99, initial: 1s }\n", head: head,
      alreadyDone: "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      if call.step == .commit { return .status(call.number == 1 ? 504 : 429) }
      return call.step == .probe ? .status(call.number == 1 ? 404 : status) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(!steps(world).contains(.abandon))
  }

  /// Some gateways state an age of 0 in every response.
  @Test(arguments: ["{ limit: 0 }", "{ limit: 1, initial: 10ms }"])
  func aResponseWithoutAnAgeInSecondsIsAskedForAgainWhenItIsConclusive(retry: String) throws {
    var world = try World(Self.yaml + "    retry: \(retry)\n", files: Yaml.files(1)) { call in
      if call.step == .commit { return .status(200, after: .seconds(60)) }
      guard call.step == .probe else { return .status(200) }
      var response = AttemptResult.Response(status: 200)
      response.age = .zero
      return Reply(answer: .response(response), after: .milliseconds(9))
    }
    world.launch()
    while !steps(world).contains(.commit), world.step() {}
    world.run()
    #expect(steps(world) == [.probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The response of a cache may be older than the commit.
  @Test(arguments: [200, 404])
  func aStoredResponseThatMayPrecedeTheCommitIsInconclusive(status: Int) throws {
    var world = try world { call in
      if call.step == .commit { return call.number == 1 ? .lost : .status(200) }
      guard call.step == .probe else { return .status(200) }
      var response = AttemptResult.Response(status: call.number == 1 ? status : 200)
      // The second response is as old as the first one.
      response.age = call.number == 1 ? .seconds(60) : .zero
      return Reply(answer: .response(response), after: .milliseconds(9))
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The response was that old when the cache sent it, and took longer to arrive.
  @Test(arguments: [0, 4])
  func theTimeThatAStoredResponseTakesIsNotCountedForIt(age: Int) throws {
    let yaml = Self.yaml + "    retry: { limit: 5, initial: 10ms }\n"
    var world = try World(yaml, files: Yaml.files(1)) { call in
      if call.step == .commit { return call.number == 1 ? .lost : .status(200) }
      guard call.step == .probe else { return .status(200) }
      var response = AttemptResult.Response(status: call.number == 1 ? 404 : 200)
      if call.number == 1 { response.age = .seconds(age) }
      return Reply(answer: .response(response), after: .seconds(age + 3))
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func aCacheThatKeepsItsResponseMakesTheItemWaitWithTheReason() throws {
    var world = try world { call in
      if call.step == .commit { return .lost }
      guard call.step == .probe else { return .status(200) }
      var response = AttemptResult.Response(status: 200)
      response.age = .seconds(1_000_000)
      return Reply(answer: .response(response), after: .milliseconds(9))
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 0 && world.scheduler.totals.items.waiting == 1)
    let reason = world.scheduler.itemRecords.first?.reason?.message
    #expect(reason?.contains("(Age: 1000000); exclude the URL of the probe") == true, "\(reason ?? "")")
  }

  /// An earlier launch ended before this one started.
  @Test(arguments: [true, false])
  func aStoredResponseThatMayPrecedeTheLaunchIsInconclusive(isOld: Bool) throws {
    var world = try world { $0.step == .commit ? .status(200, after: .seconds(60)) : .status(200) }
    world.launch()
    while !steps(world).contains(.commit), world.step() {}
    world.serve = { call in
      guard call.step == .probe else { return .status(200) }
      var response = AttemptResult.Response(status: 200)
      response.age = call.number == 1 && isOld ? .zero : nil
      return Reply(answer: .response(response), after: .milliseconds(9))
    }
    world.run()
    #expect(steps(world) == (isOld ? [.probe, .probe] : [.probe]))
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func anIntentOfALaunchWithoutAProbeIsProbedToo() throws {
    var world = try World(Yaml.ids(alreadyDone: ""), files: Yaml.files(1)) { call in
      call.step == .commit ? .status(200, after: .seconds(60)) : .status(200)
    }
    world.launch()
    while !world.starts.contains(where: { $0.attempt.step == .commit }), world.step() {}
    var other = try self.world { _ in .status(200) }
    other.journal = world.journal
    other.round = world.round
    other.run()
    #expect(steps(other) == [.probe])
    #expect(other.scheduler.totals.items.done == 1)
  }

  @Test func anItemWhoseTimeRanOutIsAmbiguousWhileItsCommitIsUnknown() throws {
    let head = Yaml.head.replacing("{ max_connections_per_host: 2 }", with: "{ timeout_for_resource: 30s }")
    let yaml = Yaml.ids(
      head: head, alreadyDone: "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }")
    var world = try World(yaml, files: Yaml.files(1)) { call in
      if call.step == .commit { return .fails(.requestTimeout, reached: true, after: .seconds(29)) }
      return call.step == .probe ? .status(503, after: .seconds(5)) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.totals.items.failed == 0)
  }

  @Test func aCommitWaitsUntilItsTransferIsOnDisk() throws {
    var world = try world(3) { _ in .status(200) }
    world.machine.writeDelay = .milliseconds(1)
    world.run()
    // `World` checks the intent of every request that starts.
    #expect(world.scheduler.totals.items.done == 3)
  }

  @Test func aCancelWhileTheCommitIsUnknownMakesItAmbiguous() throws {
    var world = try world { call in
      if call.step == .commit { return .lost }
      return call.step == .probe ? .status(503, after: .seconds(100)) : .status(200)
    }
    world.launch()
    while !steps(world).contains(.probe), world.step() {}
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false), at: world.now.advanced(by: .seconds(1)))
    while !world.hasEnded, world.step() {}
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.totals.items.cancelled == 0)
  }
}
