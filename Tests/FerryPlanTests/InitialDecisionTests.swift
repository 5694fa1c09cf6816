import FerryManifest
import FerryPlan
import Testing

/// Which work a launch would start immediately, and the disposition of everything else.
@Suite("An initial decision")
struct FirstLookTests {
  private let now = Instant(nanoseconds: 1_767_225_600_000_000_000)

  private func table(_ sizes: [Int64]) -> NodeStart {
    var items = ItemTable()
    for (index, size) in sizes.enumerated() {
      items.append(path: Array("f\(index)".utf8), size: size, modified: 0, row: Int64(index + 1), entry: .new)
    }
    return .upload(items, .init())
  }

  private func look(
    _ plan: Plan, _ starts: [NodeStart], network: DeviceConditions.Network = .wifi,
    power: DeviceConditions.Power = .external, delays: [SessionID: ResumeState] = [:],
    used: [Budget.Scope: Int64] = [:], cancelled: [SessionID] = []
  ) -> InitialDecision {
    var ledger = LedgerView(used: used)
    return InitialDecision(
      Scheduler(
        plan: plan, starts: starts, delays: delays,
        options: LaunchOptions(conditions: .init(network: network, power: power), seed: 1)),
      at: now, cancelled: cancelled
    ) { ledger.lease($0) }
  }

  private static let session = """
    version: 1
    name: test
    sessions:
      s: { kind: background, max_connections_per_host: 1, discretionary: true }
      q: {}
    budgets: { wifi: { limit: 5MB, per: day } }

    """

  private static let notify = """
    requests:
      after: { session: q, needs: [up], when: always, request: { url: "http://host/done" } }
      cheer: { session: q, needs: [up], request: { url: "http://host/cheer" } }

    """

  @Test
  func `starts items that have a connection; the others wait for a connection, a budget or a dependency`()
    throws
  {
    let plan = try Plan(yaml: Yaml.put(Self.notify, head: Self.session))
    let look = look(
      plan, [table([6_000_000, 1_000_000, 1_000_000]), .open, .open], used: [.wifi: 1_000_000])
    #expect(look.starts.map(\.ref) == [ItemRef(NodeID(0), 1)])
    guard case .waits(let budget) = look.disposition(of: ItemRef(NodeID(0), 0)),
      case .waits(let turn) = look.disposition(of: ItemRef(NodeID(0), 2)),
      case .waits(let needs) = look.disposition(of: ItemRef(NodeID(1)))
    else {
      Issue.record("they wait")
      return
    }
    #expect(look.disposition(of: ItemRef(NodeID(0), 1)) == .begins)
    // The file is larger than the whole budget, so the wait does not end with a window.
    #expect(budget.code == "budget" && budget.until == nil)
    // The used bytes include the lease of the item that begins.
    #expect(budget.budget?.usedBytes == Int64(1_000_000 + 1_048_576))
    #expect(turn.code == "turn")
    #expect(needs == RecordedFailure(code: "needs", message: "waiting for 'up'"))
    #expect(look.nextMoment(at: now) == now)
  }

  @Test func `reports a budget that is used up until its next window`() throws {
    let plan = try Plan(yaml: Yaml.put(head: Self.session))
    let look = look(plan, [table([1_000_000])], used: [.wifi: 4_500_000])
    let end = Budget.Window.day.span(containing: now, in: .utc).upperBound
    #expect(look.reasons[0]?.until == end && look.nextMoment(at: now) == end)
    #expect(look.disposition(of: ItemRef(NodeID(0), 0)) == look.reasons[0].map { .waits($0) })
  }

  @Test func `reports conditions and delays`() throws {
    let plan = try Plan(
      yaml: Yaml.put("resume_delay: { policy: before_start }\n", head: Self.session))
    let held = look(plan, [table([1])], power: .battery)
    #expect(held.reasons[0]?.code == "power" && held.nextMoment(at: now) == nil)
    let delay = ResumeState(period: .seconds(120), resumedAt: now.advanced(by: .seconds(-20)))
    let delayed = look(plan, [table([1])], delays: [SessionID(0): delay])
    #expect(delayed.nextMoment(at: now) == now.advanced(by: .seconds(100)))
    guard case .waits(let reason) = delayed.disposition(of: ItemRef(NodeID(0), 0)) else {
      Issue.record("it waits")
      return
    }
    #expect(reason.code == "delay" && reason.until == now.advanced(by: .seconds(100)))
  }

  @Test func `fails items that are larger than any budget`() throws {
    let head = Self.session.replacing(
      "budgets: { wifi:",
      with: "budgets: { wired: { limit: 1MB, per: day }, cellular: { limit: 1MB, per: day }, wifi:")
    let look = look(try Plan(yaml: Yaml.put(head: head)), [table([6_000_000])])
    guard case .ends(.failed, let reason) = look.disposition(of: ItemRef(NodeID(0), 0)) else {
      Issue.record("it ends")
      return
    }
    #expect(reason?.code == "budget_never")
  }

  @Test func `knows the remaining work of a round once sessions are cancelled`() throws {
    let plan = try Plan(yaml: Yaml.put(Self.notify, head: Self.session))
    let starts = [table([1, 2]), .open, .open]
    #expect(!look(plan, starts).scheduler.isRoundThrough)
    // One request runs only after a success, but the other one is still to be sent.
    #expect(!look(plan, starts, cancelled: [SessionID(0)]).scheduler.isRoundThrough)
    for order in [[0, 1], [1, 0]] {
      let look = look(plan, starts, cancelled: order.map(SessionID.init))
      #expect(look.scheduler.isRoundThrough && look.starts.isEmpty)
    }
  }
}
