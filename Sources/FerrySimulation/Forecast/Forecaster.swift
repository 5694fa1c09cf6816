import FerryManifest
import FerryPlan

/// Forecasts a plan: runs the scheduler on a virtual clock, with simulated servers and launches.
///
/// The same input always produces the same forecast, byte for byte.
package struct Forecaster {
  package struct Setting: Sendable {
    package var network: NetworkModel
    package var launches = LaunchSchedule.once
    package var launch: LaunchKind
    package var conditions: DeviceConditions
    package var timeline: ConditionTimeline?
    /// The time zone of the times in `timeline` that have no offset.
    package var zone: CalendarZone
    /// The time zones of the budgets, by name.
    package var zones: [String: CalendarZone]
    package var start: Instant
    /// The maximum length of the simulation.
    package var length: Duration
    /// Whether the simulation continues with further rounds until its maximum length has passed.
    package var continues = false
    /// The bytes that already count against each budget.
    package var used: [Budget.Scope: Int64] = [:]
    package var seed: UInt64

    package init(
      network: NetworkModel, launch: LaunchKind, conditions: DeviceConditions, zone: CalendarZone,
      zones: [String: CalendarZone], start: Instant, length: Duration, seed: UInt64
    ) {
      self.network = network
      self.launch = launch
      self.conditions = conditions
      self.zone = zone
      self.zones = zones
      self.start = start
      self.length = length
      self.seed = seed
    }
  }

  private let plan: Plan
  private let setting: Setting
  private var machine: VirtualMachine
  private var watch: ForecastWatch
  private let end: Instant

  /// - Parameters:
  ///   - starts: the state of each node of the plan, in the plan's order.
  ///   - intervals: the intervals of fetches, from the journal.
  ///   - delays: the resume delays of sessions, from the journal.
  ///   - foreground: by session, the times up to which queued work is not inferred to be discretionary, from the
  ///     journal.
  package init(
    _ plan: Plan, starts: [NodeStart], intervals: [NodeID: Duration], delays: [SessionID: ResumeState],
    foreground: [SessionID: Instant], _ setting: Setting
  ) {
    self.plan = plan
    self.setting = setting
    end = setting.start.advanced(by: setting.length)
    let fetched = plan.nodes.indices.map { NodeID($0) }.filter { node in
      if case .notDue(_, nil) = starts[node.index] { return true }
      return intervals[node] != nil
    }
    let network = SimulatedNetwork(
      setting.network, plan: plan, zones: setting.zones, fetched: fetched, at: setting.start,
      seed: setting.seed)
    var options = LaunchOptions(
      conditions: setting.conditions, launch: setting.launch, zones: setting.zones, seed: setting.seed)
    if case .once = setting.launches { options.patience = setting.length }
    machine = VirtualMachine(plan, options: options, zones: setting.zones, at: setting.start) {
      network.answer($0)
    }
    machine.keepsTrace = true
    watch = ForecastWatch(plan)
    for (index, start) in starts.enumerated() {
      machine.begin(with: start, of: NodeID(index), interval: intervals[NodeID(index)])
    }
    machine.journal.delays = delays
    machine.journal.foreground = foreground
    machine.ledger.begin(with: setting.used, at: setting.start)
    setTimeline()
  }

  private mutating func setTimeline() {
    guard let timeline = setting.timeline else { return }
    let (first, changes) = timeline.conditions(
      from: setting.start, until: end, in: setting.zone, at: setting.conditions)
    machine.options.conditions = first
    for change in changes { machine.schedule(.conditions(change.conditions), at: change.at) }
  }

  /// Runs launches until the round is complete, no launch is scheduled, or the simulated time has passed. If
  /// the simulation continues, the next launch after a complete round opens another round.
  package mutating func forecast() -> Forecast {
    var launches = 0
    var rounds = 0
    var firstEnd: Instant?
    // Just before the start of the simulation, so that a launch that is scheduled at the start is included.
    var last = setting.start.advanced(by: .nanoseconds(-1))
    while let next = nextLaunch(after: last, launches: launches), next < end {
      machine.now = max(machine.now, next)
      if launches > 0 { machine.openRound() }
      launches += 1
      watch.launched(launches, at: machine.now)
      machine.launch()
      watch.look(machine)
      while !machine.hasEnded, machine.now < end, machine.step() { watch.look(machine) }
      watch.ended(machine)
      if machine.scheduler.isRoundThrough {
        rounds += 1
        firstEnd = firstEnd ?? min(machine.now, end)
        if !setting.continues { break }
      }
      if machine.now >= end { break }
      last = machine.now
    }
    let until = setting.continues ? end : min(machine.now, end)
    return watch.forecast(
      machine, from: setting.start, until: until, firstEnd: firstEnd, rounds: rounds, launches: launches)
  }

  /// The time of the next launch. If no launches are given and the simulation continues, a launch follows whenever a
  /// fetch is due, as shown by `ferry next`.
  private func nextLaunch(after last: Instant, launches: Int) -> Instant? {
    if case .once = setting.launches, launches > 0 { return setting.continues ? machine.nextFetch : nil }
    return setting.launches.next(after: last, launches: launches, start: setting.start)
  }
}

extension VirtualMachine {
  /// Prepares the simulated journal and listing, so that they contain the state that a launch would find.
  mutating func begin(with start: NodeStart, of node: NodeID, interval: Duration?) {
    switch start {
    case .open:
      // The fetch is due, so at least the interval has passed since its last success.
      if let interval {
        journal.fetches[node.index] = .init(at: now.advanced(by: .zero - interval), interval: interval)
      }
    case .switchedOff, .left, .skipped: break
    case .stored, .notStored: startOverrides[plan.nodes[node.index].name] = start
    case .notSelected, .submissions: startOverrides[plan.nodes[node.index].name] = .notSelected
    case .closed(let outcome, let failure):
      journal.singles[node.index] = .init(round: round, state: ItemState(outcome), failure: failure)
    case .intended: journal.singles[node.index] = .init(round: round, hasIntent: true)
    case .notDue(_, let failed?):
      journal.failedFetches[node.index] = failed
      if let interval {
        journal.fetches[node.index] = .init(at: failed.at.advanced(by: .zero - interval), interval: interval)
      }
    case .notDue(let until, nil):
      let interval = interval ?? .zero
      // The fetch is not due, either because its interval has not passed, or because its document is still
      // fresh.
      journal.fetches[node.index] = .init(
        at: until.advanced(by: .zero - interval), interval: interval,
        document: StoredDocument(freshUntil: until))
    case .upload(let table, _):
      list(table.files, of: node)
      journal.takeIn(table, of: node, round: round)
    }
  }
}

extension ItemState {
  init(_ outcome: NodeOutcome) {
    switch outcome {
    case .succeeded: self = .done
    case .failed: self = .failed
    case .ambiguous: self = .ambiguous
    case .skipped: self = .cancelled
    }
  }
}

extension VirtualJournal {
  /// Adds the rows of items that an earlier launch had queued.
  mutating func takeIn(_ table: ItemTable, of node: NodeID, round: Int64) {
    for item in 0..<table.count
    where table.entries[item] == .continuing || table.entries[item] == .adopted {
      let handedOver = table.handedOver[item]
      items[node.index].append(
        path: table.files.path(item), size: table.files.sizes[item], modified: table.files.modified[item],
        round: round, at: Instant(nanoseconds: handedOver == ItemTable.notHandedOver ? 0 : handedOver))
      let row = items[node.index].count - 1
      guard let begun = table.begun[item] else { continue }
      if begun.state != .queued { items[node.index].set(row, begun.state) }
      if begun.intent != nil { items[node.index].set(row, intent: begun.intent) }
      if begun.state == .allocated || begun.state == .transferred {
        items[node.index].set(row, expires: begun.expires)
        items[node.index].set(row, uploadID: Int.max - row)
      }
    }
    items[node.index].sort()
  }
}
