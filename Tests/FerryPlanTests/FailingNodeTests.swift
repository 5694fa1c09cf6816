import FerryManifest
import FerryPlan
import Testing

/// Nodes that fail in every launch. Until `timeout_for_resource` has passed, the round waits for them.
@Suite struct `A fetch or a request that fails in every launch` {
  private static let timeout: Duration = .seconds(3_600)

  private func world(_ more: String = "") throws -> World {
    try World(
      """
      version: 1
      name: test
      sessions: { s: { timeout_for_resource: 1h }, t: {} }
      fetches:
        f: { session: s, save_to: f, retry: { limit: 0 }, request: { url: "http://h/f" } }
      requests:
        r: { session: s, retry: { limit: 0 }, repeatable: true, request: { url: "http://h/r" } }
        after: { session: s, needs: [f], request: { url: "http://h/after" } }
      \(more)
      """
    ) { call in .status(call.node == "after" ? 200 : 500, after: .seconds(1)) }
  }

  private func launch(_ world: inout World, after duration: Duration) {
    world.now = world.now.advanced(by: duration)
    world.run()
  }

  @Test func `ends as failed once the time has passed since its first failure in the round`() throws {
    var world = try world()
    world.run()
    launch(&world, after: Self.timeout - .seconds(10))
    #expect(world.starts.count == 2 && !world.scheduler.isRoundThrough)
    launch(&world, after: .seconds(10))
    #expect(world.starts.count == 2 && world.scheduler.isRoundThrough)
    #expect(world.scheduler.nodeRecords[0].state == .failed)
    #expect(world.scheduler.nodeRecords[0].reason?.status == 500)
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func `has its time counted anew in the next round`() throws {
    var world = try world()
    world.run()
    launch(&world, after: Self.timeout)
    #expect(world.scheduler.isRoundThrough)
    world.round = 2
    launch(&world, after: .seconds(60))
    #expect(world.starts.count == 2 && !world.scheduler.isRoundThrough)
  }

  @Test func `is tried in a launch long after its first failure, and may succeed`() throws {
    var world = try world()
    world.run()
    world.serve = { _ in .status(200) }
    launch(&world, after: .seconds(86_400))
    #expect(world.scheduler.isRoundThrough && world.scheduler.exitCode == .success)
  }

  @Test func `has its time counted from the present if the clock was ahead`() throws {
    var world = try world()
    world.run()
    world.now = world.start.advanced(by: .seconds(-86_400))
    world.run()
    launch(&world, after: Self.timeout)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func `also ends if its token cannot be fetched`() throws {
    var world = try World(
      """
      version: 1
      name: test
      sessions: { s: { timeout_for_resource: 1h } }
      tokens:
        t:
          session: s
          retry: { limit: 0 }
          request: { url: "http://t/" }
          capture: { access: { json: /t } }
          apply: { header: Authorization, value: "${token.access}" }
      fetches:
        f: { session: s, save_to: f, token: t, retry: { limit: 0 }, request: { url: "http://h/f" } }

      """
    ) { _ in .status(500) }
    world.run()
    #expect(!world.scheduler.isRoundThrough)
    launch(&world, after: Self.timeout)
    #expect(world.scheduler.isRoundThrough)
  }
}
