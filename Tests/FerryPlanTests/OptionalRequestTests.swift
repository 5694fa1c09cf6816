import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// The keys `optional`, `repeatable` and `idempotency_key` of single requests.
@Suite struct `A single request` {
  private func yaml(_ keys: String, when: String = "succeeded") -> String {
    Yaml.head + """
      requests:
        tell: { session: s, \(keys), request: { method: POST, url: "http://h/tell" }, retry: { limit: 2, initial: 1ms } }
        after: { session: s, needs: [tell], when: \(when), request: { url: "http://other/after" } }
      """
  }

  private func run(_ keys: String, when: String = "succeeded", reply: Reply) throws -> World {
    var world = try World(yaml(keys, when: when)) { $0.node == "tell" ? reply : .status(200) }
    world.run()
    return world
  }

  private func states(_ world: World) -> [ReportState] { world.scheduler.nodeRecords.map(\.state) }

  @Test(arguments: [Reply.status(400), .status(500), .lost, .status(503), .fails(.connect, reached: false)])
  func `that is optional changes neither the exit code nor the nodes that need it`(_ reply: Reply) throws {
    let world = try run("optional: true", reply: reply)
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.failedCount(of: ManifestID(0)) == 0)
    let tell = try #require(world.scheduler.nodeRecords.first)
    #expect(tell.isExcusedFailure && tell.reason != nil)
    #expect(states(world).last == .succeeded)
    // Without `optional`, each of these replies is a failure or leaves the request open.
    #expect(try run("optional: false", reply: reply).scheduler.exitCode != .success)
  }

  @Test func `that is optional does not start the nodes that run after a failure`() throws {
    #expect(states(try run("optional: true", when: "failed", reply: .status(400))) == [.failed, .skipped])
    #expect(states(try run("optional: false", when: "failed", reply: .status(400))) == [.failed, .succeeded])
  }

  @Test func `that is optional fails if its token is refused, and the run continues`() throws {
    var world = try World(
      Yaml.head + Yaml.token + """
        requests:
          tell: { session: s, token: login, optional: true, request: { url: "http://h/tell" } }
          after: { session: s, needs: [tell], request: { url: "http://other/after" } }
        """
    ) { $0.step == .token ? .status(403) : .status(200) }
    world.run()
    #expect(world.scheduler.exitCode == .success)
    #expect(states(world) == [.failed, .failed, .succeeded])
  }

  @Test func `that is optional waits for the network as any other`() throws {
    var world = try World(yaml("optional: true")) { _ in .status(200) }
    world.machine.options.conditions = DeviceConditions(network: .none)
    world.run()
    #expect(world.scheduler.exitCode == .deferred)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test(arguments: ["repeatable: true", "idempotency_key: { header: Key }"])
  func `that is repeatable is sent again after an unclear outcome`(_ keys: String) throws {
    for reply in [Reply.status(500), .lost] {
      var world = try World(yaml(keys)) { $0.node == "tell" && $0.number == 1 ? reply : .status(200) }
      world.run()
      #expect(
        world.starts.map { world.machine.scheduler.plan.nodes[$0.attempt.ref.node.index].name } == [
          "tell", "tell", "after",
        ])
      #expect(world.scheduler.exitCode == .success)
    }
    #expect(try run(keys, reply: .status(400)).starts.count == 1)
  }

  @Test(arguments: ["repeatable: true", "idempotency_key: { header: Key }"])
  func `that is repeatable fails if it is refused after an unclear outcome`(_ keys: String) throws {
    var world = try World(yaml(keys)) { $0.number == 1 ? .lost : .status(403) }
    world.run()
    #expect(world.starts.count == 2)
    #expect(states(world) == [.failed, .skipped])
    world.serve = { _ in .status(200) }
    world.round = 2
    world.run()
    #expect(states(world) == [.succeeded, .succeeded])
  }

  @Test func `that is not repeatable is never sent again`() throws {
    let world = try run("repeatable: false", reply: .status(500))
    #expect(world.starts.count == 1)
    #expect(states(world) == [.ambiguous, .skipped])
    #expect(world.scheduler.exitCode == .itemsFailed)
  }
}
