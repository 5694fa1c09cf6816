import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Documents of unknown size, each of which may use all that remains of a hard budget.
@Suite struct `A hard budget of documents whose sizes are unknown` {
  private static let day: Duration = .seconds(86_400)

  /// The fetches `a`, `b` and `c`, and a budget of 5 MB. The response to `a` has 8 MB unless `reply` returns another one.
  private func world(
    _ budgets: String = "any: { limit: 5MB, per: day, cutoff: hard, binds: all }",
    a reply: @escaping (Call) -> Reply? = { _ in nil }
  ) throws -> World {
    let fetch = { (name: String) in
      "  \(name): { session: \(name), save_to: \(name), request: { url: \"http://\(name)/\" } }"
    }
    var world = try World(
      """
      version: 1
      name: test
      sessions: { a: {}, b: {}, c: {} }
      budgets: { \(budgets) }
      fetches:
      \(["a", "b", "c"].map(fetch).joined(separator: "\n"))

      """
    ) { call in
      if call.node == "a", let reply = reply(call) { return reply }
      var reply = Reply.status(200, after: .seconds(1))
      reply.received = call.node == "a" ? 8_000_000 : 5
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    return world
  }

  private func requested(_ world: World) -> [String] {
    world.starts.map { world.plan.nodes[$0.attempt.ref.node.index].name }
  }

  private func used(_ world: World) -> Int64 {
    let window = Budget.Window.day.span(containing: world.start, in: .utc)
    return world.machine.ledger.account(.any, window).moved
  }

  @Test func `fails a document that exceeds a whole window, so that others get the next window`() throws {
    var world = try world()
    world.run()
    #expect(requested(world) == ["a"])
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget_never")
    world.now = world.now.advanced(by: Self.day)
    world.run()
    #expect(requested(world) == ["b", "c"])
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func `lets a document wait that may fit another window`() throws {
    var world = try world()
    world.machine.schedule(.othersMove(.wifi, 1_000), at: world.start)
    world.run()
    #expect(requested(world) == ["a"])
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget")
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test func `lets a document wait that may fit the budget of another network`() throws {
    var world = try world("wifi: { limit: 5MB, per: day, cutoff: hard, binds: all }")
    world.run()
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget")
  }

  @Test func `lets a document wait that a part continues`() throws {
    var world = try world(a: { call in
      var reply = Reply.fails(.byteLimit, reached: true)
      reply.received = call.attempt.byteLimit ?? 0
      reply.part = .init(kept: reply.received, through: reply.received)
      return reply
    })
    world.run()
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget")
  }

  @Test func `requests a document that exceeded a window after the others in the next window`() throws {
    var world = try world("wifi: { limit: 5MB, per: day, cutoff: hard, binds: all }")
    world.options.patience = .seconds(2 * 86_400)
    world.options.deadline = world.start.advanced(by: .seconds(3 * 86_400))
    world.run()
    #expect(Array(requested(world).prefix(4)) == ["a", "b", "c", "a"])
    #expect(world.starts.allSatisfy { $0.attempt.ref.node.index == 0 || $0.at < world.starts[3].at })
  }

  @Test func `limits the attempts at a document together`() throws {
    var world = try world(a: { _ in
      var reply = Reply.lost
      reply.received = 4_000_000
      return reply
    })
    world.run()
    #expect(used(world) <= 5_000_000, "\(used(world))")
  }
}
