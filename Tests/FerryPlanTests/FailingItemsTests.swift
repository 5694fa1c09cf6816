import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Uploads of which files fail in every launch. New files do not keep the round open longer than `timeout_for_resource`.
@Suite struct `An upload with files that fail in every launch` {
  private static let timeout: Duration = .seconds(3_600)

  private func world(_ more: String = "", _ serve: @escaping (Call) -> Reply) throws -> World {
    try World(
      """
      version: 1
      name: test
      sessions: { s: { kind: background, timeout_for_resource: 1h } }
      uploads:
        u:
          session: s
          files: { root: . }
          retry: { limit: 0 }
          transfer: { request: { method: PUT, url: "http://h/${file.path}" } }
      \(more)

      """, files: ["u": ["a": 1]], serve: serve)
  }

  private func launch(_ world: inout World, after minutes: Int, adding file: String) {
    world.now = world.now.advanced(by: .seconds(60 * minutes))
    world.files["u"]?[file] = 1
    world.run()
  }

  /// The failures of a host, of the files that wait for it, and of a token.
  @Test(arguments: [
    Reply.status(503), .status(503, retryAfter: .seconds(60)), .lost, .refused,
  ])
  func `ends them as failed once the time has passed since its first failure`(_ reply: Reply) throws {
    var world = try world { _ in reply }
    world.run()
    launch(&world, after: 40, adding: "b")
    #expect(!world.scheduler.isRoundThrough)
    // More files than the launch begins.
    for number in 0..<40 { world.files["u"]?["c\(number)"] = 1 }
    launch(&world, after: 40, adding: "c")
    #expect(world.scheduler.isRoundThrough && world.scheduler.totals.items.failed == 43)
    #expect(world.scheduler.exitCode == .itemsFailed)
    world.round = 2
    launch(&world, after: 1, adding: "d")
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test func `ends them as failed if its token cannot be fetched`() throws {
    var world = try world(
      """
          token: t
      tokens:
        t:
          session: s
          retry: { limit: 0 }
          request: { url: "http://t/" }
          capture: { access: { json: /t } }
          apply: { header: Authorization, value: "${token.access}" }
      """
    ) { _ in .status(500) }
    world.run()
    launch(&world, after: 40, adding: "b")
    #expect(!world.scheduler.isRoundThrough)
    launch(&world, after: 40, adding: "c")
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func `leaves them if an earlier launch delivered files without such a failure`() throws {
    var world = try world { $0.path == "a" ? .status(503) : .status(200) }
    world.run()
    world.serve = { _ in .status(200) }
    world.options.limit = 1
    launch(&world, after: 40, adding: "b")
    #expect(world.scheduler.totals.items.done == 1)
    world.options.limit = nil
    world.serve = { _ in .status(503) }
    launch(&world, after: 15, adding: "c")
    launch(&world, after: 30, adding: "d")
    #expect(world.scheduler.totals.items.failed == 0 && !world.scheduler.isRoundThrough)
  }

  @Test func `does not end files that did not fail`() throws {
    var world = try world { _ in .status(503) }
    world.run()
    world.options.limit = 1
    launch(&world, after: 80, adding: "b")
    #expect(world.scheduler.totals.items.failed == 1 && world.scheduler.totals.items.waiting == 1)
    world.options.conditions = DeviceConditions(network: .none)
    launch(&world, after: 1, adding: "c")
    #expect(world.scheduler.totals.items.waiting == 2)
  }

  @Test func `does not end a file in the launch in which the upload fails for the first time`() throws {
    var world = try world("    batch: { max_items: 1 }") { call in
      call.path == "b"
        ? .status(200, after: .seconds(3_000)) : .status(503, after: .seconds(call.path == "a" ? 1 : 3_000))
    }
    world.files["u"] = ["a": 1, "b": 1, "c": 1]
    world.run()
    #expect(world.starts.count == 3)
    #expect(world.scheduler.totals.items.waiting == 2 && world.scheduler.totals.items.done == 1)
  }

  @Test func `leaves a file whose commit may have been executed`() throws {
    var world = try World(
      """
      version: 1
      name: test
      sessions: { s: { timeout_for_resource: 1h } }
      uploads:
        u:
          session: s
          files: { root: . }
          retry: { limit: 0 }
          allocate:
            request: { method: POST, url: "http://h/ids" }
            capture: { id: { json: /id } }
          transfer: { request: { method: PUT, url: "http://h/${allocate.id}" } }
          commit:
            request: { method: POST, url: "http://h/${allocate.id}/commit" }
            probe: { request: { url: "http://h/${allocate.id}" } }

      """, files: ["u": ["a": 1]]
    ) { call in
      switch call.step {
      case .commit: .lost
      case .probe: .status(503)
      default: .status(200)
      }
    }
    world.run()
    launch(&world, after: 50, adding: "b")
    launch(&world, after: 20, adding: "c")
    // The time of the first file has passed.
    let items = world.scheduler.totals.items
    #expect(items.ambiguous == 1 && items.waiting == 2 && items.failed == 0)
  }

  /// Otherwise, the next round would execute the POST again.
  @Test func `leaves a file that was sent by a transfer that must not be repeated`() throws {
    var world = try World(
      """
      version: 1
      name: test
      sessions: { s: { kind: background, timeout_for_resource: 1h } }
      uploads:
        u:
          session: s
          files: { root: . }
          retry: { limit: 0 }
          transfer: { request: { method: POST, url: "http://h/${file.path}" } }
          commit: { request: { method: POST, url: "http://c/${file.path}" } }

      """, files: ["u": ["a": 1]]
    ) { $0.step == .commit ? .refused : .status(200) }
    world.run()
    launch(&world, after: 50, adding: "b")
    launch(&world, after: 20, adding: "c")
    // The time of the first file has passed.
    #expect(world.scheduler.totals.items.ambiguous == 1 && world.scheduler.totals.items.waiting == 2)
    world.serve = { _ in .status(200) }
    launch(&world, after: 1, adding: "d")
    #expect(world.scheduler.totals.items.done == 3)
    #expect(world.starts.count { $0.attempt.step == .transfer } == 1)
  }
}
