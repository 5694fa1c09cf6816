import FerryManifest
import FerryPlan
import HeapModule

/// A simulated machine. It performs the scheduler's actions on a virtual clock, with a closure as the server,
/// and with models of the journal and the ledger.
///
/// It does not make decisions. The tests, the random worlds and `ferry plan --simulate` run on it. The cost
/// of a turn does not depend on the number of items.
package struct VirtualMachine {
  package let plan: Plan
  package let zones: [String: CalendarZone]
  package var now: Instant
  package var round: Int64 = 1
  /// The options of the next launch. The conditions in them change with the scheduled occurrences.
  package var options: LaunchOptions
  package var journal: VirtualJournal
  package internal(set) var ledger: VirtualLedger
  package internal(set) var scheduler: Scheduler
  /// Determines the outcome of a request when it is sent.
  package var serve: (Call) -> Reply
  /// By node name, the starts that replace those determined from the journal.
  package var startOverrides: [String: NodeStart] = [:]

  /// The scheduled external events, in chronological order.
  package private(set) var occurrences: [(at: Instant, what: Occurrence)] = []
  /// Determines when the process dies; `nil` if it does not die.
  package var fate: (any ProcessFate)?
  /// The time until a record is written. A process that dies earlier loses the record.
  package var writeDelay = Duration.zero
  /// The duration of a sync that the scheduler requests.
  package var syncDuration = Duration.milliseconds(1)
  /// The time until the ledger replies.
  package var leaseDelay = Duration.zero
  /// The interval at which the transferred bytes of running requests are reported to the scheduler; `nil` if
  /// they are reported only when requests end.
  package var progressInterval: Duration?
  /// The number of files in each portion of a listing, if an upload's files arrive in portions.
  package var portion: Int?
  /// The time until a further portion has been listed.
  package var listingDelay = Duration.milliseconds(2)
  /// Whether `Call.number` is counted.
  package var countsAttempts = false
  /// Whether the scheduler's invariants are checked after each event; violations appear in `trace`.
  package var checksInvariants = false
  /// Whether `trace` is recorded.
  package var keepsTrace = false

  /// The observations of the last turn, in order.
  package internal(set) var trace: [TraceEvent] = []
  package internal(set) var counters = Counters()
  package internal(set) var hasEnded = false
  package internal(set) var isDead = false

  var listings: [FileColumns]
  var listingVersions: [Int]
  var startCache: [StartCache?]

  // State of the launch.
  var tables: [ItemTable?]
  var flights: [UInt64: VirtualFlight] = [:]
  var arrivals = Heap<Arrival>()
  /// The upload IDs returned by allocations and not yet recorded in the journal.
  var givenIDs: [ItemRef: Int] = [:]
  /// The partial uploads that the server has created, by file, until all partial uploads of the file are known.
  var createdPartials: [ItemRef: Set<Int>] = [:]
  var attemptsAt: [AttemptStep: Int] = [:]
  var recorded: UInt64 = 0
  var written: UInt64 = 0
  var synced: UInt64 = 0
  var writeAt: Instant?
  var syncAt: Instant?
  var tickAt: Instant?
  var answers: [(at: Instant, request: Lease.Request, lease: Lease)] = []
  /// The items that are not listed yet, by upload.
  var unlisted: [NodeID: ItemTable] = [:]
  /// The portions that were requested.
  var portions: [(at: Instant, node: NodeID)] = []

  /// Totals over the whole life of the machine.
  package struct Counters: Hashable, Sendable {
    package var launches = 0
    /// Events that the scheduler has handled.
    package var events = 0
    package var actions = 0
    package var requests = 0
    package var deaths = 0
    /// The number of consecutive events at the same virtual time.
    package var eventsAtOnce = 0
  }

  package init(
    _ plan: Plan, options: LaunchOptions = LaunchOptions(seed: 1), zones: [String: CalendarZone] = [:],
    at now: Instant, serve: @escaping (Call) -> Reply
  ) {
    self.plan = plan
    self.zones = zones
    self.now = now
    self.options = options
    self.serve = serve
    journal = VirtualJournal(plan)
    ledger = VirtualLedger(plan.policies.budgets, zones: zones)
    scheduler = Scheduler(plan: plan, starts: plan.nodes.map { _ in .notSelected }, options: options)
    listings = Array(repeating: FileColumns(), count: plan.nodes.count)
    listingVersions = Array(repeating: 0, count: plan.nodes.count)
    startCache = Array(repeating: nil, count: plan.nodes.count)
    tables = Array(repeating: nil, count: plan.nodes.count)
  }

  /// Sets the listing of an upload, starting with the next launch. The listing is sorted by path bytes,
  /// without duplicate paths.
  package mutating func list(_ files: FileColumns, of node: NodeID) {
    listings[node.index] = files
    listingVersions[node.index] += 1
  }

  package func listing(of node: NodeID) -> FileColumns { listings[node.index] }

  package mutating func schedule(_ what: Occurrence, at moment: Instant) {
    let index = occurrences.firstIndex { $0.at > moment } ?? occurrences.count
    occurrences.insert((moment, what), at: index)
  }

  package mutating func unschedule(where isUnwanted: (Occurrence) -> Bool) {
    occurrences.removeAll { isUnwanted($0.what) }
  }

  /// Runs one launch until it ends or is killed. Returns `false` if it stalled.
  @discardableResult
  package mutating func run() -> Bool {
    launch()
    while !hasEnded, !isDead { guard step() else { return false } }
    return true
  }

  /// Reads the journal and begins a launch. All work in progress of an earlier launch is discarded.
  package mutating func launch() {
    trace.removeAll(keepingCapacity: true)
    flights = [:]
    arrivals = .init()
    givenIDs = [:]
    createdPartials = [:]
    attemptsAt = [:]
    answers = []
    (unlisted, portions) = ([:], [])
    (recorded, written, synced, writeAt, syncAt, tickAt) = (0, 0, 0, nil, nil, nil)
    (hasEnded, isDead) = (false, fate?.isDead ?? false)
    ledger.loseLeases()
    takeWhatHappenedBefore()
    options.zones = zones
    counters.launches += 1
    counters.eventsAtOnce = 0
    let options = options
    see(.launched(options))
    let starts = plan.nodes.indices.map { firstPortion(of: nodeStart($0), $0) }
    let dropped = journal.dropUploadIDs(of: plan, tables)
    let orphans = journal.numberOrphans()
    let intervals = journal.fetches.compactMap { index, fetched in
      fetched.interval.map { (NodeID(index), $0) }
    }
    scheduler = Scheduler(
      plan: plan, starts: starts, intervals: Dictionary(uniqueKeysWithValues: intervals),
      failingSince: journal.failingNodes.filter { $0.value.round == round }.mapValues(\.since),
      delays: journal.delays, foreground: journal.foreground, orphans: orphans, dropped: dropped,
      listsInPortions: Set(unlisted.keys), options: options)
    fate?.journalWasSynced(journal)
    handle(.launched)
  }

  /// Opens the next round if every node has ended in the open one; otherwise, the open round continues.
  package mutating func openRound() {
    if scheduler.isRoundThrough { round += 1 }
  }

  private mutating func takeWhatHappenedBefore() {
    for (at, what) in occurrences where at <= now && what.needsNoLaunch {
      switch what {
      case .conditions(let conditions): options.conditions = conditions
      case .othersMove(let network, let bytes):
        ledger.othersMove(network, bytes: bytes, at: at)
        see(.othersMoved(network, bytes))
      case .stop, .hangUp, .cancel, .drain, .submit: break
      }
    }
    occurrences.removeAll { $0.at <= now && $0.what.needsNoLaunch }
  }

  mutating func takeOccurrence() -> Occurrence { occurrences.removeFirst().what }

  mutating func see(_ traceEvent: @autoclosure () -> TraceEvent) {
    if keepsTrace { trace.append(traceEvent()) }
  }
}

/// One step of an item or node.
struct AttemptStep: Hashable {
  var ref: ItemRef
  var step: Step.Kind
}
