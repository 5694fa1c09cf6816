import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// `timeout_for_resource` of tokens, fetches, requests and releases: one hour, with a server that takes longer.
@Suite struct ResourceTimeoutTests {
  private static let head = Yaml.head.replacing(
    "{ max_connections_per_host: 2 }", with: "{ timeout_for_resource: 1h, max_connections_per_host: 2 }")

  private func world(
    _ yaml: String, files: Int = 0, serve: @escaping (Call) -> Reply
  ) throws -> World {
    try World(yaml, files: files == 0 ? [:] : Yaml.files(files), serve: serve)
  }

  private func elapsed(_ world: World) -> Duration { world.start.duration(to: world.now) }

  private static let fetch =
    "fetches: { n: { session: s, save_to: f, request: { url: \"http://host/f\" } } }\n"

  private static func request(_ method: String) -> String {
    "requests: { n: { session: s, request: { method: \(method), url: \"http://host/r\" } } }\n"
  }

  @Test(arguments: [
    (fetch, NodeOutcome.failed, "resource_timeout"), (request("PUT"), .failed, "resource_timeout"),
    // A POST may have been executed.
    (request("POST"), .ambiguous, "answer_lost"),
  ]) func aNodeWhoseResponseNeverCompletesTimesOut(
    _ node: String, _ outcome: NodeOutcome, _ code: String
  ) throws {
    var world = try world(Self.head + node) { _ in .status(200, after: .seconds(1_000_000)) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.starts.allSatisfy { $0.attempt.deadline == $0.at.advanced(by: .seconds(3600)) })
    #expect(world.scheduler.nodeRecords.map(\.state) == [ReportState(outcome)])
    #expect(world.scheduler.nodeRecords.first?.reason?.code.rawValue == code)
    #expect(elapsed(world) >= .seconds(3600) && elapsed(world) < .seconds(3601))
  }

  @Test(arguments: [fetch, request("PUT")])
  func retriesCountTowardsANodesTime(_ node: String) throws {
    // Each attempt takes 25 minutes, and the wait between attempts 10 minutes. The second attempt uses up the hour, so
    // there is no third.
    let retry = node.replacing(
      "session: s,", with: "session: s, retry: { limit: 20, initial: 10m, max: 10m, jitter: 0 },")
    var world = try world(Self.head + retry) { _ in .status(500, after: .seconds(1_500)) }
    world.run()
    #expect(world.starts.map { world.start.duration(to: $0.at).components.seconds } == [0, 2_100])
    #expect(world.starts.allSatisfy { $0.attempt.deadline == world.start.advanced(by: .seconds(3600)) })
    #expect(world.scheduler.nodeRecords.first?.reason?.code == "resource_timeout")
    #expect(elapsed(world) < .seconds(3601))
  }

  @Test func aRetryIsNotWaitedForBeyondTheNodesTime() throws {
    let node = Self.request("PUT").replacing(
      "session: s,", with: "session: s, retry: { limit: 20, initial: 50m, factor: 2, max: 5h, jitter: 0 },")
    var world = try world(Self.head + node) { _ in .status(500) }
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.scheduler.nodeRecords.first?.reason?.code == "resource_timeout")
    #expect(elapsed(world) >= .seconds(3600) && elapsed(world) < .seconds(3601))
  }

  @Test func anItemDoesNotWaitBeyondItsTimeEither() throws {
    let upload = Yaml.put("    retry: { limit: 20, initial: 50m, max: 5h, jitter: 0 }\n", head: Self.head)
    var world = try world(upload, files: 1) { _ in .status(500) }
    world.run()
    #expect(world.scheduler.itemRecords.first?.reason?.code == "resource_timeout")
    #expect(elapsed(world) < .seconds(3601))
  }

  /// The time limit also applies if the host requires a longer pause, which holds for all requests to it.
  @Test(arguments: [fetch, request("PUT"), Yaml.put("    retry: RETRY\n", head: "")])
  func aPauseOfAHostDoesNotExtendTheTime(_ node: String) throws {
    let retry = "{ limit: 20, initial: 1m, max: 5h, jitter: 0 }"
    let yaml = node.replacing("RETRY", with: retry).replacing(
      "session: s,", with: "session: s, retry: \(retry),")
    var world = try world(Self.head + yaml, files: node.contains("uploads:") ? 3 : 0) { _ in
      .status(503, retryAfter: .seconds(4 * 3600))
    }
    world.run()
    #expect(world.starts.count <= 3)
    let reasons =
      world.scheduler.itemRecords.map(\.reason?.code) + world.scheduler.nodeRecords.map(\.reason?.code)
    #expect(reasons.contains("resource_timeout"))
    #expect(elapsed(world) >= .seconds(3600) && elapsed(world) < .seconds(3601), "\(elapsed(world))")
  }

  /// The time limit also applies to steps whose intents are recorded in advance, and to items that start during the
  /// pause.
  @Test(arguments: ["allocate", "transfer", "commit"])
  func aPauseOfAHostDoesNotExtendTheTimeOfManyItems(_ step: String) throws {
    let nodes = """
      uploads:
        up:
          session: s
          files: { root: r }
          retry: { limit: 20, initial: 1m, max: 5h, jitter: 0, not_executed: [503] }
          allocate: { request: { url: "http://host/allocate" }, capture: { id: { json: /id } } }
          transfer: { request: { method: POST, url: "http://host/transfer" } }
          commit: { request: { url: "http://host/commit" } }
      """
    var world = try world(Self.head + nodes, files: 12) { call in
      call.attempt.step.rawValue == step ? .status(503, retryAfter: .seconds(4 * 3600)) : .status(200)
    }
    world.run()
    let ends = world.scheduler.itemRecords.map { "\($0.state) \($0.reason?.code ?? "")" }
    #expect(ends.contains { $0.hasSuffix("resource_timeout") }, "\(ends)")
    #expect(elapsed(world) < .seconds(3601), "\(elapsed(world))")
  }

  @Test func aTokenThatNeverCompletesLeavesItsItemsForLater() throws {
    // The time limit of the files is a week.
    let head = Yaml.head.replacing(
      "{ max_connections_per_host: 2 }", with: "{}, t: { timeout_for_resource: 1h }")
    let token = Yaml.token.replacing("session: s", with: "session: t")
    let yaml = Yaml.put("    token: login\n", head: head + token)
    var isSlow = true
    var world = try world(yaml, files: 3) { call in
      call.step == .token && isSlow ? .status(200, after: .seconds(1_000_000)) : .status(200)
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.token])
    #expect(world.scheduler.totals.items.waiting == 3)
    #expect(world.scheduler.nodeRecords.first { $0.kind == .token }?.reason?.code == "resource_timeout")
    #expect(world.scheduler.exitCode == .temporary)
    #expect(elapsed(world) < .seconds(3601))
    isSlow = false
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
  }

  @Test func eachRefreshOfATokenHasItsOwnTime() throws {
    let yaml = Yaml.put("    token: login\n", head: Self.head + Yaml.token)
    var world = try world(yaml, files: 8) { call in
      call.step == .token
        ? .status(200, expires: call.now.advanced(by: .seconds(1_000))) : .status(200, after: .seconds(900))
    }
    world.run()
    let tokens = world.starts.filter { $0.attempt.step == .token }
    #expect(tokens.count > 1)
    #expect(tokens.allSatisfy { $0.attempt.deadline == $0.at.advanced(by: .seconds(3600)) })
    #expect(world.scheduler.totals.items.waiting == 0)
  }

  @Test func aReleaseThatNeverCompletesTimesOutAndDefersTheOthers() throws {
    var world = try world(
      Yaml.ids(ReleaseTests.abandon, head: Self.head), files: 6,
      serve: ReleaseTests.server { call in
        switch call.step {
        case .transfer: .status(403)
        case .abandon: .status(200, after: .seconds(1_000_000))
        case .token, .allocate, .commit, .probe, .fetch, .request, .download: nil
        }
      })
    world.run()
    // Two releases are sent in parallel. When they time out, the other four are not sent.
    #expect(world.starts.count { $0.attempt.step == .abandon } == 2)
    #expect(elapsed(world) < .seconds(3610))
    let orphans = world.scheduler.nodeRecords.first?.orphans
    #expect(orphans?.failed == 6 && orphans?.reason?.code == "resource_timeout")
    #expect(world.scheduler.exitCode == .itemsFailed)
  }
}
