import FerryManifest
import FerryPlan

/// Observes a simulation and collects the data of a forecast.
struct ForecastWatch {
  /// The maximum number of events to describe; a simulated year can have many.
  private static let mostMoments = 10_000

  private let plan: Plan
  private var timeline: [Forecast.Moment] = []
  /// A launch in which nothing has happened yet. Most launches in a year have nothing to do.
  private var quietLaunch: Forecast.Moment?
  /// The open batches, by node.
  private var batches: [Int: [OpenBatch]] = [:]
  /// The index of the batch that contains a journal row, by node and by row number minus 1; -1 if no open batch
  /// contains the row.
  private var batchOfRow: [Int: [Int32]] = [:]
  private var expired: [Int: Int] = [:]
  private var allocated = 0
  private var holders: Set<ItemRef> = []
  private var ends: [Int: Instant] = [:]
  private var fetches: [Int: [Forecast.FetchEntry]] = [:]
  private var fetchCounts: [Int: Forecast.FetchCounts] = [:]
  private var resumes = 0
  /// The work of the launches that have ended, by node.
  private var work: [Int: RunRecord.WorkRecord] = [:]

  private struct OpenBatch {
    var items: Int
    var open: Int
    var at: Instant
    var endedAt: Instant?
  }

  init(_ plan: Plan) { self.plan = plan }

  mutating func launched(_ number: Int, at now: Instant) {
    // The numbering of items starts over in each launch.
    holders = []
    quietLaunch = .init(at: now.rfc3339, text: "launch \(number)")
  }

  mutating func look(_ machine: VirtualMachine) {
    for traceEvent in machine.trace {
      switch traceEvent {
      case .action(.record(let entries)): for entry in entries { take(entry, machine) }
      case .event(.conditions(let conditions)): say(Self.words(conditions), at: machine.now)
      case .event, .action, .launched, .sent, .moved, .othersMoved, .leased, .contradiction, .died: break
      }
    }
  }

  private mutating func take(_ entry: JournalEntry, _ machine: VirtualMachine) {
    let now = machine.now
    switch entry {
    case .itemsQueued(let node, let items, _): handOver(items, of: node, machine)
    case .uploadIDAllocated(let ref, _):
      allocated += 1
      holders.insert(ref)
    case .fileTransferred(let ref): holders.remove(ref)
    case .uploadIDDiscarded(let ref):
      if holders.remove(ref) != nil { expired[ref.node.index, default: 0] += 1 }
    case .sessionResumed(let session, let delay):
      guard delay.resumedAt != nil else { return }
      resumes += 1
      let name = plan.sessions[session.index].name
      say(
        "session \(name): resume \(resumes), the delay is \(Self.words(delay.period))", at: now,
        session: name, delay: delay.period)
    case .itemClosed(let ref, _, _, _): close(ref, machine)
    case .fetchFailed(let node, _, _): fetched(node, .failed, machine)
    case .intentRecorded, .intentWithdrawn, .transferAdvanced, .uploadIDUpdated, .sessionInForeground,
      .batchCompleted,
      .uploadIDOrphaned,
      .orphanResolved, .orphanReleaseFailed, .nodeFailing:
      break
    }
  }

  /// Starts a batch. Items of an earlier batch that have not ended stay in that batch.
  private mutating func handOver(_ items: Range<Int>, of node: NodeID, _ machine: VirtualMachine) {
    let number = batches[node.index]?.count ?? 0
    var count = 0
    for item in items {
      guard let row = machine.row(of: ItemRef(node, item)) else { continue }
      let missing = row - (batchOfRow[node.index]?.count ?? 0)
      if missing > 0 { batchOfRow[node.index, default: []] += Array(repeating: -1, count: missing) }
      guard batchOfRow[node.index]?[row - 1] == -1 else { continue }
      batchOfRow[node.index]?[row - 1] = Int32(number)
      count += 1
    }
    guard count > 0 else { return }
    batches[node.index, default: []].append(OpenBatch(items: count, open: count, at: machine.now))
    let files = count == 1 ? "1 file" : "\(count) files"
    say("\(title(of: node.index)): batch \(number + 1) is queued, \(files)", at: machine.now)
  }

  private mutating func close(_ ref: ItemRef, _ machine: VirtualMachine) {
    let now = machine.now
    guard ref.item != nil else {
      ends[ref.node.index] = now
      if plan.nodes[ref.node.index].kind == .fetch {
        return fetched(ref.node, machine.scheduler.fetchResult(of: ref.node), machine)
      }
      return say("\(title(of: ref.node.index)) has ended", at: now)
    }
    let node = ref.node.index
    guard let row = machine.row(of: ref), let index = batchOfRow[node].map({ Int($0[row - 1]) }), index >= 0
    else { return }
    batchOfRow[node]?[row - 1] = -1
    batches[node]?[index].open -= 1
    guard batches[node]?[index].open == 0 else { return }
    batches[node]?[index].endedAt = now
    ends[node] = now
    say("\(title(of: node)): batch \(index + 1) has completed", at: now)
  }

  /// The kind and name of a node.
  private func title(of node: Int) -> String { "\(plan.nodes[node].kind.rawValue) \(plan.nodes[node].name)" }

  /// Records the result of a fetch.
  ///
  /// - Parameter result: `nil` for a fetch that was skipped.
  private mutating func fetched(_ node: NodeID, _ result: FetchResult?, _ machine: VirtualMachine) {
    let interval = machine.scheduler.fetchInterval(of: node)
    if let result {
      let attempt = Forecast.FetchEntry(
        at: machine.now.rfc3339, result: result, intervalSeconds: interval?.seconds)
      fetchCounts[node.index, default: .init()].add(attempt)
      if fetches[node.index, default: []].count < Self.mostMoments {
        fetches[node.index, default: []].append(attempt)
      }
    }
    // After a failure, the minimum interval applies.
    let isKept = result == .newData || result == .noData
    let words = isKept ? interval.map { ", the interval is \(Self.words($0))" } ?? "" : ""
    say("fetch \(plan.nodes[node.index].name): \(result?.rawValue ?? "skipped")\(words)", at: machine.now)
  }

  mutating func ended(_ machine: VirtualMachine) {
    look(machine)
    for (node, work) in machine.scheduler.metrics.work.enumerated() {
      guard let record = work.record else { continue }
      if self.work[node]?.add(record) == nil { self.work[node] = record }
    }
  }

  private mutating func say(
    _ text: String, at now: Instant, session: String? = nil, delay: Duration? = nil
  ) {
    guard timeline.count < Self.mostMoments else { return }
    if let quietLaunch { timeline.append(quietLaunch) }
    quietLaunch = nil
    timeline.append(.init(at: now.rfc3339, text: text, session: session, delaySeconds: delay?.seconds))
  }

  /// Returns the forecast for the simulated period.
  ///
  /// - Parameters:
  ///   - firstEnd: the time at which the first round was completed; `nil` if it is still open.
  ///   - rounds: the number of completed rounds.
  func forecast(
    _ machine: VirtualMachine, from start: Instant, until end: Instant, firstEnd: Instant?, rounds: Int,
    launches: Int
  ) -> Forecast {
    let now = firstEnd ?? end
    var forecast = Forecast(
      startedAt: start.rfc3339, endedAt: now.rfc3339, isThrough: firstEnd != nil,
      seconds: start.duration(to: now).seconds, rounds: rounds, simulatedUntil: end.rfc3339,
      launches: launches, resumes: resumes,
      requests: machine.counters.requests, idsAllocated: allocated,
      idsExpired: expired.values.reduce(0, +))
    for (index, record) in machine.scheduler.nodeRecords.enumerated() where record.kind != .token {
      forecast.nodes.append(
        .init(
          name: record.name, kind: record.kind, state: record.state, reason: record.reason,
          items: record.items,
          batches: (batches[index] ?? []).map {
            .init(items: $0.items, handedOverAt: $0.at.rfc3339, endedAt: $0.endedAt?.rfc3339)
          },
          fetches: record.kind == .fetch ? fetches[index] ?? [] : nil,
          fetchCounts: record.kind == .fetch ? fetchCounts[index] ?? .init() : nil,
          endedAt: ends[index]?.rfc3339,
          idsExpired: expired[index] ?? 0, work: work[index]))
    }
    forecast.budgets = machine.ledger.entries
    forecast.timeline = timeline
    return forecast
  }

  private static func words(_ conditions: DeviceConditions) -> String {
    let network = conditions.network == .none ? "no network" : "\(conditions.network.rawValue) network"
    return "\(network)\(conditions.isExpensive ? ", metered" : ""), \(conditions.power.rawValue) power"
  }

  /// A string such as `90 s` or `2.5 h`.
  private static func words(_ duration: Duration) -> String {
    let seconds = duration.seconds
    let (value, unit) =
      seconds < 120 ? (seconds, "s") : seconds < 7200 ? (seconds / 60, "min") : (seconds / 3600, "h")
    let tenths = Int64(clamping: (value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}

extension VirtualMachine {
  /// The row number in the journal, counted from 1.
  fileprivate func row(of ref: ItemRef) -> Int? {
    guard let item = ref.item else { return nil }
    return tables[ref.node.index].map { Int($0.rows[item]) }
  }
}

extension VirtualLedger {
  /// The windows in which bytes were transferred, sorted by budget and start time.
  var entries: [Forecast.BudgetEntry] {
    accounts.sorted { ($0.key.scope.rawValue, $0.key.begin) < ($1.key.scope.rawValue, $1.key.begin) }
      .filter { $0.value.used > 0 }
      .map { key, account in
        .init(
          network: key.scope, windowStart: account.window.lowerBound.rfc3339,
          windowEnd: account.window.upperBound.rfc3339, usedBytes: account.used,
          limitBytes: budgets[key.scope]?.limit ?? 0)
      }
  }
}
