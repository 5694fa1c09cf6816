import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Launches with a deadline: `--max-duration`.
struct DeadlineTests {
  private func world(
    _ yaml: String = Yaml.put(), files: Int = 6, deadline: Duration, serve: @escaping (Call) -> Reply
  ) throws -> World {
    var world = try World(yaml, files: Yaml.files(files), serve: serve)
    world.options.deadline = world.start.advanced(by: deadline)
    return world
  }

  private func reason(of node: String, in world: World) -> RecordedFailure? {
    world.scheduler.nodeRecords.first { $0.name == node }?.reason
  }

  @Test func atTheDeadlineNothingMoreStartsAndRequestsCompleteInTheGracePeriod() throws {
    var world = try world(deadline: .seconds(4)) { _ in .status(200, after: .seconds(3)) }
    world.run()
    #expect(world.starts.count == 4)
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.scheduler.totals.items.waiting == 2)
    #expect(reason(of: "up", in: world) == .maxDuration)
    #expect(world.scheduler.exitCode == .cutOff)
    #expect(world.scheduler.stopCause == .maxDuration)
    #expect(!world.scheduler.isRoundThrough)

    world.options.deadline = nil
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.stopCause == nil)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func requestsThatOutlastTheGracePeriodAreCancelledAndReported() throws {
    var world = try world(deadline: .seconds(1)) { _ in .status(200, after: .seconds(100)) }
    world.run()
    #expect(world.now >= world.start.advanced(by: .seconds(6)))
    #expect(world.now < world.start.advanced(by: .seconds(7)))
    let reasons = world.scheduler.itemRecords.map(\.reason?.code)
    #expect(reasons == ["max_duration", "max_duration"])
    #expect(world.scheduler.totals.items.waiting == 6)
    #expect(world.scheduler.exitCode == .cutOff)
  }

  @Test func aLaunchThatCompletesInTheGracePeriodIsASuccess() throws {
    var world = try world(files: 2, deadline: .seconds(1)) { _ in .status(200, after: .seconds(3)) }
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.stopCause == nil)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func aDeadlineThatIsNotReachedChangesNothing() throws {
    var world = try world(deadline: .seconds(3600)) { _ in .status(200) }
    world.run()
    #expect(world.now < world.start.advanced(by: .seconds(2)))
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.stopCause == nil)
  }

  @Test func withNoTimeNothingIsStarted() throws {
    var world = try world(deadline: .zero) { _ in .status(200) }
    world.run()
    #expect(world.hasEnded)
    #expect(world.starts.isEmpty)
    #expect(world.entries.isEmpty)
    #expect(world.scheduler.totals.items.waiting == 6)
    #expect(reason(of: "up", in: world) == .maxDuration)
    #expect(world.scheduler.exitCode == .cutOff)
  }

  @Test func aPendingRetryIsAbandonedWithItsFailures() throws {
    var world = try world(files: 1, deadline: .seconds(10)) { _ in .status(503, retryAfter: .seconds(300)) }
    world.run()
    #expect(world.now < world.start.advanced(by: .seconds(11)))
    let item = try #require(world.scheduler.itemRecords.first)
    #expect(item.reason == .maxDuration)
    #expect(item.attempts.map(\.status) == [503])
    #expect(world.scheduler.exitCode == .cutOff, "that it failed for now was not what ended it")
  }

  @Test func aNodeThatOnlyTheDeadlinePreventedReportsIt() throws {
    let note = """
      requests:
        note: { session: s, needs: [up], request: { method: POST, url: "http://host/note" } }

      """
    var world = try world(Yaml.put(note), files: 2, deadline: .seconds(1)) { _ in
      .status(200, after: .seconds(3))
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(reason(of: "note", in: world) == .maxDuration)
    #expect(world.scheduler.exitCode == .cutOff)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test(arguments: [nil, StopCause.interrupt])
  func aNodeThatWillNotRunIsStillClosed(signal: StopCause?) throws {
    let more = """
      requests:
        alarm: { session: s, needs: [up], when: failed, request: { method: POST, url: "http://host/alarm" } }
        calm: { session: s, needs: [alarm], request: { method: POST, url: "http://host/calm" } }

      """
    var world = try world(Yaml.put(more), files: 2, deadline: .seconds(1)) { _ in
      .status(200, after: .seconds(3))
    }
    if let signal { world.signals = [(world.start.advanced(by: .milliseconds(900)), signal)] }
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.scheduler.nodeRecords.map(\.state) == [.succeeded, .skipped, .skipped])
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == (signal == nil ? .success : .interrupted))
  }

  @Test func itemsBeyondTheLimitAreNotBlamedOnTheDeadline() throws {
    var world = try world(deadline: .seconds(1)) { _ in .status(200, after: .seconds(3)) }
    world.options.limit = 2
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(reason(of: "up", in: world)?.code == "limit")
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func aSignalInTheGracePeriodDoesNotExtendItAndSetsTheExitCode() throws {
    var world = try world(deadline: .seconds(1)) { _ in .status(200, after: .seconds(100)) }
    world.signals = [(world.start.advanced(by: .seconds(4)), .interrupt)]
    world.run()
    #expect(world.now >= world.start.advanced(by: .seconds(6)))
    #expect(world.now < world.start.advanced(by: .seconds(7)))
    #expect(world.scheduler.exitCode == .interrupted)
  }

  @Test func aSecondSignalInTheGracePeriodCancelsRequestsAtOnce() throws {
    var world = try world(deadline: .seconds(1)) { _ in .status(200, after: .seconds(100)) }
    world.signals = [
      (world.start.advanced(by: .seconds(2)), .terminate),
      (world.start.advanced(by: .seconds(3)), .interrupt),
    ]
    world.run()
    #expect(world.now < world.start.advanced(by: .seconds(4)))
    #expect(world.scheduler.exitCode == .terminated)
  }

  @Test func aCancelledTokenRequestLeavesItsItemsWaiting() throws {
    var world = try world(
      Yaml.put("    token: login\n", head: Yaml.head + Yaml.token), files: 1, deadline: .seconds(1)
    ) { call in .status(200, after: call.step == .token ? .seconds(100) : .zero) }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.token])
    #expect(world.scheduler.itemRecords.map(\.reason?.code) == ["max_duration"])
    #expect(world.scheduler.exitCode == .cutOff, "authorization did not fail")
  }

  @Test func itemsThatWaitForConditionsAreNotBlamedOnTheDeadline() throws {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 2 }, home: { allows_cellular: false } }
      requests:
        note: { session: home, request: { method: POST, url: "http://host/note" } }
      uploads:
        up:
          session: s
          files: { root: . }
          transfer: { request: { url: "http://host/${file.path}" } }

      """
    var world = try world(yaml, files: 2, deadline: .seconds(1)) { _ in .status(200, after: .seconds(3)) }
    world.options.conditions = DeviceConditions(network: .cellular)
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(reason(of: "note", in: world)?.code == "network")
    #expect(world.scheduler.exitCode == .deferred)
  }
}
