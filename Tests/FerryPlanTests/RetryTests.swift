import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

struct RetryTests {
  /// These are the rows of the table in the documentation of `wait`.
  @Test(arguments: [(1, 0.75, 1, 1.25), (2, 1.5, 2, 2.5), (5, 12, 16, 20), (10, 225, 300, 375)])
  func delaysGrowToTheCap(retry: Int, least: Double, middle: Double, most: Double) {
    let policy = RetryPolicy()
    #expect(policy.wait(beforeRetry: retry, random: 0) == .seconds(least))
    #expect(policy.wait(beforeRetry: retry, random: 0.5) == .seconds(middle))
    #expect(policy.wait(beforeRetry: retry, random: 1) == .seconds(most))
  }

  @Test func theDelayOfAHugeNumberOfRetriesStaysWithinTheCap() {
    #expect(RetryPolicy(jitter: 0).wait(beforeRetry: .max, random: 0) == .seconds(300))
  }

  @Test(arguments: [(10, 10), (300, 300), (86_400, 300), (0, 1)])
  func retryAfterIsObeyedUpToTheCap(asked: Int, expected: Int) {
    let wait = RetryPolicy(jitter: 0).wait(beforeRetry: 1, retryAfter: .seconds(asked), random: 0)
    #expect(wait == .seconds(expected))
  }

  @Test(arguments: [408, 425, 500, 502, 503, 504])
  func aTransientResponseIsRetried(status: Int) throws {
    var world = try World(Yaml.put(), files: Yaml.files(1)) { .status($0.number == 1 ? status : 200) }
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.exitCode == .success)
    // The failed attempt is recorded, although the item succeeded.
    #expect(world.scheduler.itemRecords.first?.attempts.first?.status == status)
  }

  @Test(arguments: [Reply.status(503), .lost, .fails(.requestTimeout, reached: true)])
  func anItemWithoutRemainingRetriesWaitsForTheNextLaunch(reply: Reply) throws {
    var world = try World(Yaml.put(), files: Yaml.files(2)) { $0.path == "f00" ? reply : .status(200) }
    world.run()
    #expect(world.starts.count { $0.path == "f00" } == 6)
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.exitCode == .temporary)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test(arguments: [400, 403, 404, 413, 422])
  func aPermanentResponseFailsOnlyTheItem(status: Int) throws {
    var world = try World(Yaml.put(), files: Yaml.files(4)) { .status($0.path == "f01" ? status : 200) }
    world.run()
    #expect(world.starts.count == 4)
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.totals.items.done == 3)
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func aSourceThatChangedEndsTheRunWith4() throws {
    var world = try World(Yaml.put(), files: Yaml.files(2)) {
      $0.path == "f00" ? .fails(.sourceChanged, reached: true) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.exitCode == .integrity)
  }

  @Test func aFailingHostGetsOneRequestAtATimeAndIsThenGivenUp() throws {
    var world = try World(Yaml.put(), files: Yaml.files(10)) { _ in .refused }
    world.run()
    // Two requests fail together and count as one failure. Five probes follow.
    #expect(world.starts.count == 7)
    let times = world.starts.map(\.at)
    #expect(times[0] == times[1])
    for (earlier, later) in zip(times[1...], times[2...]) {
      #expect(earlier.duration(to: later) >= .milliseconds(750))
    }
    #expect(world.scheduler.totals.items.waiting == 10)
    #expect(world.scheduler.exitCode == .temporary)
  }

  @Test func aRecoveredHostIsUsedWithAllItsConnections() throws {
    var world = try World(Yaml.put(), files: Yaml.files(6)) {
      [start = Instant(nanoseconds: 1_600_000_000_000_000_000)] in
      $0.now < start.advanced(by: .seconds(2)) ? .refused : .status(200, after: .seconds(1))
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 6)
    let times = world.starts.map(\.at).filter { $0 > world.start.advanced(by: .seconds(2)) }
    // One request probes the host. After its success, two requests are sent at a time.
    #expect(times.count == 6)
    #expect(times[1] == times[2])
  }

  @Test func aHostThatSendsRetryAfterGetsNoRequestsUntilThen() throws {
    var world = try World(Yaml.put(), files: Yaml.files(4)) {
      $0.path == "f00" && $0.number == 1 ? .status(429, retryAfter: .seconds(100)) : .status(200)
    }
    world.run()
    let late = world.starts.filter { $0.at > world.start.advanced(by: .seconds(1)) }
    #expect(late.allSatisfy { $0.at >= world.start.advanced(by: .seconds(100)) })
    #expect(late.count >= 2)
    #expect(world.scheduler.totals.items.done == 4)
  }

  @Test(arguments: [429, 503])
  func eachRequestHasItsOwnRetries(status: Int) throws {
    var world = try World(Yaml.put("    retry: { limit: 2 }\n"), files: Yaml.files(6)) {
      $0.number == 1 ? .status(status, retryAfter: .seconds(1)) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 6)
  }

  @Test func aHostIsGivenUpOnceTheRequestThatProbesItHasNoRetriesLeft() throws {
    var world = try World(Yaml.put("    retry: { limit: 2 }\n"), files: Yaml.files(6)) { _ in
      .status(429, retryAfter: .seconds(1))
    }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 6)
    // Both connections send a request. After that, a single request probes the host.
    #expect(world.starts.count == 4 && Set(world.starts.suffix(2).map(\.path)).count == 1)
  }

  @Test func anItemThatTakesLongerThanItsSessionAllowsFails() throws {
    let head = Yaml.head.replacing("{ max_connections_per_host: 2 }", with: "{ timeout_for_resource: 3s }")
    var world = try World(Yaml.put(head: head), files: Yaml.files(1)) { _ in .status(500) }
    world.run()
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.itemRecords.first?.reason?.code == "resource_timeout")
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func timeOfAnEarlierLaunchCountsForTheItem() throws {
    let head = Yaml.head.replacing("{ max_connections_per_host: 2 }", with: "{ timeout_for_resource: 1h }")
    var world = try World(Yaml.put(head: head), files: Yaml.files(1)) { _ in .status(500) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.now = world.now.advanced(by: .seconds(3600))
    world.run()
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.totals.items.failed == 1)
  }
}

extension Reply: CustomTestStringConvertible {
  package var testDescription: String { "\(answer)" }
}
