import FerryManifest
import FerryPlan
import Testing

struct ConditionTests {
  private func head(_ session: String) -> String {
    """
    version: 1
    name: test
    sessions:
      s: { max_connections_per_host: 2, \(session) }
      quick: {}

    """
  }

  private func world(
    _ session: String, _ conditions: DeviceConditions, _ yaml: (String) -> String = { Yaml.put(head: $0) }
  ) throws -> World {
    var world = try World(yaml(head(session)), files: Yaml.files(3)) { _ in .status(200) }
    world.options.conditions = conditions
    world.run()
    return world
  }

  private struct Case: CustomTestStringConvertible {
    var session: String
    var conditions: DeviceConditions
    /// The code of the reason why the item waits.
    var waits: String?
    var testDescription: String { "\(session) \(conditions)" }
  }

  private static let cases = [
    Case(session: "kind: default", conditions: .init(network: .cellular, power: .battery)),
    Case(session: "kind: default", conditions: .init(network: .none), waits: "network"),
    Case(session: "allows_cellular: false", conditions: .init(network: .cellular), waits: "network"),
    Case(session: "allows_cellular: false", conditions: .init(network: .wifi, isExpensive: true)),
    Case(
      session: "allows_expensive: false", conditions: .init(network: .wifi, isExpensive: true),
      waits: "network"),
    Case(session: "allows_expensive: false", conditions: .init(network: .cellular), waits: "network"),
    Case(session: "allows_expensive: false", conditions: .init(network: .wired, power: .battery)),
    Case(session: "discretionary: true", conditions: .init(network: .wifi, power: .battery), waits: "power"),
    Case(session: "discretionary: true", conditions: .init(network: .wifi, power: .external)),
    Case(session: "discretionary: false", conditions: .init(network: .wifi, power: .battery)),
  ]

  @Test(arguments: cases)
  private func aSessionWaitsForItsConditions(_ test: Case) throws {
    let world = try world(test.session, test.conditions)
    let totals = world.scheduler.totals
    #expect(world.hasEnded)
    #expect(world.starts.isEmpty == (test.waits != nil))
    #expect(totals.items.done == (test.waits == nil ? 3 : 0))
    #expect(totals.items.waiting == (test.waits == nil ? 0 : 3))
    #expect(world.scheduler.exitCode == (test.waits == nil ? .success : .deferred))
    #expect(world.scheduler.isRoundThrough == (test.waits == nil))
    #expect(world.scheduler.nodeRecords.first?.reason?.code.rawValue == test.waits)
  }

  @Test func noUploadIDIsAllocatedForATransferThatWaits() throws {
    let world = try world(
      "discretionary: true", .init(power: .battery),
      { head in
        Yaml.ids(head: head).replacing("allocate:\n", with: "allocate:\n      session: quick\n")
      })
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func noTokenIsFetchedForWaitingItems() throws {
    let world = try world(
      "discretionary: true", .init(power: .battery),
      { head in
        Yaml.put(head: head).replacing("    session: s\n", with: "    session: s\n    token: login\n")
          + Yaml.token.replacing("session: s", with: "session: quick")
      })
    #expect(world.starts.isEmpty)
  }

  @Test func otherSessionsContinueAndTheNextLaunchUnderBetterConditionsSendsTheRest() throws {
    var world = try World(
      Yaml.put(
        """
        requests:
          ping: { session: quick, request: { url: "http://other/ping" } }
        """, head: head("discretionary: true")), files: Yaml.files(3)
    ) { _ in .status(200) }
    world.options.conditions = .init(power: .battery)
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.scheduler.exitCode == .deferred)
    world.options.conditions = .init(power: .external)
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .success)
    #expect(!world.starts.contains { $0.attempt.step == .request })
  }

  @Test func cellularIsExpensive() {
    #expect(DeviceConditions(network: .cellular).isExpensive)
    #expect(!DeviceConditions(network: .wifi).isExpensive)
  }
}
