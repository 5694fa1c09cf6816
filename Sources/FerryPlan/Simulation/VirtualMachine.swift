import FerryManifest
import HeapModule

/// A machine that is not there: performs the scheduler's actions on a virtual clock, between a server that a
/// closure plays, and models of the journal and the ledger.
///
/// It decides nothing; the tests, the random worlds and `ferry plan --simulate` run on it. A turn costs the same
/// however many items there are.
package struct VirtualMachine {
  package let plan: Plan
  package let zones: [String: CalendarZone]
  package var now: Instant
  package var round: Int64 = 1
  /// Of the next launch; its conditions change with what happens.
  package var options: LaunchOptions
  package var journal: VirtualJournal
  package internal(set) var ledger: VirtualLedger
  package internal(set) var scheduler: Scheduler
  /// What an outside party makes of a request when it is sent.
  package var serve: (Call) -> Reply
  /// Nodes that begin otherwise than the journal says.
  package var startOverrides: [String: NodeStart] = [:]

  /// What will happen from outside, soonest first.
  package private(set) var occurrences: [(at: Instant, what: Occurrence)] = []
  /// So many more actions are performed before the process is killed.
  package var actionsToLive = Int.max
  /// Whether the power goes as well: what was not brought to the disk is lost too.
  package var losesPower = false
  /// How long a record takes until it is written; a process that is killed earlier loses it.
  package var writeDelay = Duration.zero
  /// How long the ledger takes to answer.
  package var leaseDelay = Duration.zero
  /// How often the scheduler is told what the sockets move while requests last; `nil` for only at their ends.
  package var progressInterval: Duration?
  /// Whether `Call.number` counts.
  package var countsAttempts = false
  /// Whether `trace` are kept.
  package var keepsTrace = false

  /// What was seen in the last turn, in order.
  package internal(set) var trace: [TraceEvent] = []
  package internal(set) var counters = Counters()
  package internal(set) var hasEnded = false
  package internal(set) var isDead = false

  var listings: [FileColumns]
  var listingVersions: [Int]
  var startCache: [StartCache?]

  // Of the launch.
  var tables: [ItemTable?]
  var flights: [UInt64: VirtualFlight] = [:]
  var arrivals = Heap<Arrival>()
  /// What allocations gave out, until the journal has it.
  var givenIDs: [ItemRef: Int] = [:]
  var attemptsAt: [AttemptStep: Int] = [:]
  var recorded: UInt64 = 0
  var written: UInt64 = 0
  var synced: UInt64 = 0
  var writeAt: Instant?
  var syncAt: Instant?
  var tickAt: Instant?
  var answers: [(at: Instant, request: Lease.Request, lease: Lease)] = []
  /// What a killed process, or a power cut, leaves of the journal; `nil` where that is all of it.
  var writtenJournal: VirtualJournal?
  var syncedJournal: VirtualJournal?

  /// What a whole life of the machine comes to.
  package struct Counters: Hashable, Sendable {
    package var launches = 0
    /// Of the scheduler.
    package var events = 0
    package var actions = 0
    package var requests = 0
    package var deaths = 0
    /// Events in a row between which no time passed.
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

  /// What is listed of an upload from the next launch on; sorted by path bytes, no path twice.
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

  /// One launch from its begin to its end, or to its death; false where nothing led on.
  @discardableResult
  package mutating func run() -> Bool {
    launch()
    while !hasEnded, !isDead { guard step() else { return false } }
    return true
  }

  /// Meets the journal and begins; whatever an earlier launch had under way is forgotten.
  package mutating func launch() {
    trace.removeAll(keepingCapacity: true)
    flights = [:]
    arrivals = .init()
    givenIDs = [:]
    attemptsAt = [:]
    answers = []
    (recorded, written, synced, writeAt, syncAt, tickAt) = (0, 0, 0, nil, nil, nil)
    (hasEnded, isDead) = (false, actionsToLive <= 0)
    ledger.loseLeases()
    takeWhatHappenedBefore()
    options.zones = zones
    counters.launches += 1
    counters.eventsAtOnce = 0
    let options = options
    see(.launched(options))
    let starts = plan.nodes.indices.map { nodeStart($0) }
    let dropped = journal.dropUploadIDs(of: plan, tables)
    let orphans = journal.numberOrphans()
    let intervals = journal.fetches.compactMap { index, fetched in
      fetched.interval.map { (NodeID(index), $0) }
    }
    scheduler = Scheduler(
      plan: plan, starts: starts, intervals: Dictionary(uniqueKeysWithValues: intervals),
      delays: journal.delays, orphans: orphans, dropped: dropped, options: options)
    keepSnapshots()
    handle(.launched)
  }

  /// `run` continues the open round or opens one: the next one, where every node of this one has ended.
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
      case .stop, .hangUp, .cancel, .submit: break
      }
    }
    occurrences.removeAll { $0.at <= now && $0.what.needsNoLaunch }
  }

  mutating func takeOccurrence() -> Occurrence { occurrences.removeFirst().what }

  mutating func see(_ traceEvent: @autoclosure () -> TraceEvent) {
    if keepsTrace { trace.append(traceEvent()) }
  }
}

/// One step of one place.
struct AttemptStep: Hashable {
  var ref: ItemRef
  var step: Step.Kind
}
