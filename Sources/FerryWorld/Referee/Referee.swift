import FerryManifest
import FerryPlan
import FerrySimulation

/// Observes a world and checks it against the rules. It implements the rules independently of the scheduler,
/// and considers only the requests, records and transferred bytes. It is used in random worlds and in the
/// scheduler's unit tests.
package struct Referee {
  /// A running request.
  struct Flight {
    var call: Call
    var session: SessionID
    var isDiscretionary: Bool
    /// Whether the network has changed since the request was sent.
    var hasChangedNetwork = false
    var isCancelled = false
  }

  /// A file of an upload.
  struct FileKey: Hashable {
    var node: Int
    var path: [UInt8]
  }

  /// An upload ID with its node.
  struct FileUploadID: Hashable {
    var node: Int
    var id: Int
  }

  let plan: Plan
  package private(set) var violation: Violation?

  // State of the launch.
  var options = LaunchOptions(seed: 0)
  var startedAt = Instant(nanoseconds: 0)
  var conditions = DeviceConditions()
  var windowEndsAt: Instant?
  var flights: [UInt64: Flight] = [:]
  var recorded: UInt64 = 0
  var synced: UInt64 = 0
  var stoppedAt: Instant?
  /// The record of each unused intent.
  var intents: [ItemRef: UInt64] = [:]
  /// The record that contains the upload ID of each item to which this launch has allocated one.
  var allocated: [ItemRef: UInt64] = [:]
  /// The record that contains the completion of each transfer.
  var transferred: [ItemRef: UInt64] = [:]
  var begun: Set<ItemRef> = []
  /// The time of the first request of each node or orphan; for a token, the first request since it was last
  /// fetched.
  var begunAt: [ItemRef: Instant] = [:]
  /// The number of requests in the launch, by item, node or orphan.
  var requests: [ItemRef: Int] = [:]
  /// By item, node or orphan, the number of consecutive 401 responses to one step, and the time of the last
  /// one.
  var refusals: [ItemRef: (step: Step.Kind, count: Int, at: Instant)] = [:]
  /// The sessions that `ferry cancel` has ended, and whether work that had begun continues.
  var cancelled: [SessionID: Bool] = [:]
  var batches: [Int: Batch] = [:]
  var delays: [SessionID: Delay] = [:]
  /// The delays at the start of the launch.
  var delaysAtLaunch: [SessionID: Delay] = [:]
  var ended: Set<ItemRef> = []
  /// Files that were submitted to an upload that may have ended in this launch. Nodes that need the upload may have
  /// started before these files were submitted.
  var late: Set<FileKey> = []
  /// The body bytes of gated requests, and the bytes used before the launch, by budget and window.
  var gatedBodies: [Account: Int64] = [:]
  var usedBefore: [Account: Int64] = [:]
  var eventsInLaunch = 0
  /// The last attempts of fetches that had failed before the launch, by node.
  var failedFetches: [Int: FailedFetch] = [:]

  // State of the world.
  /// The number of times the server has executed a file's delivering request since the file was last queued.
  var effects: [FileKey: Int] = [:]
  /// Files whose delivery request the server has executed at least once.
  var hasEffect: Set<FileKey> = []
  var states: [FileKey: (state: ItemState, size: Int64, modified: Int64)] = [:]
  /// Files whose commit may have been executed, but without a response that confirms it.
  var unknownCommits: Set<FileKey> = []
  /// Upload IDs under which a transfer that must not be repeated may have reached the server.
  var usedIDs: Set<FileUploadID> = []
  /// Files that were queued in or before a foreground launch.
  var inForeground: Set<FileKey> = []
  /// The known state of the files that are sent in parts, by upload ID.
  var parts: [FileUploadID: Parts] = [:]
  /// The latest expiry that the server has stated for each upload ID.
  var expiries: [FileUploadID: Instant] = [:]
  /// The upload ID of each file that is sent in parts.
  var partsOf: [ItemRef: FileUploadID] = [:]
  /// The upload resources that the server assigns to running requests, by attempt, and whether the client knows them.
  var resources: [UInt64: (id: Int, isKnown: Bool)] = [:]
  /// Files whose first request must not be repeated and may have reached the server, although the client
  /// knows no upload resource.
  var lostCreations: Set<FileKey> = []
  /// For each running commit: whether an earlier commit of the file may have been executed.
  var wasUnknown: [FileKey: Bool] = [:]
  var round: Int64 = 0
  /// The time of the first request in the round that failed.
  var failingSince: Instant?
  var now = Instant(nanoseconds: 0)

  package init(_ plan: Plan) { self.plan = plan }

  /// Records a violation. Only the first one is kept, because later ones may be its consequences.
  mutating func report(_ rule: Violation.Rule, _ message: String) {
    if violation == nil { violation = Violation(rule: rule, message: message) }
  }

  /// Called before a launch to record its initial state.
  package mutating func willLaunch(_ machine: VirtualMachine) {
    (flights, intents, allocated, transferred, begun, refusals) = ([:], [:], [:], [:], [], [:])
    for flight in flights.values { loseCreation(flight.call) }
    (parts, partsOf, resources) = ([:], [:], [:])
    (cancelled, batches, gatedBodies, usedBefore, ended) = ([:], [:], [:], [:], [])
    (recorded, synced, stoppedAt, eventsInLaunch) = (0, 0, nil, 0)
    (requests, begunAt, late) = ([:], [:], [])
    delays = machine.journal.delays.mapValues { Delay(period: $0.period, resumedAt: $0.resumedAt) }
    delaysAtLaunch = delays
    failedFetches = machine.journal.failedFetches
    states = [:]
    for (node, rows) in machine.journal.items.enumerated() {
      for row in 0..<rows.count {
        let known = rows.known(row)
        states[FileKey(node: node, path: Array(rows.files.path(row)))] =
          (known.state, known.size, known.modified)
      }
    }
    if machine.round != round {
      round = machine.round
      failingSince = nil
      for key in effects.keys where plan.nodes[key.node].kind != .upload { effects[key] = 0 }
    }
    noteUsed(machine)
  }

  /// Called after a turn to check its observations.
  ///
  /// - Parameter effects: the permanent effects on the server since the last call.
  package mutating func see(_ machine: VirtualMachine, _ effects: [ServerEffect]) {
    now = machine.now
    for traceEvent in machine.trace where violation == nil {
      switch traceEvent {
      case .launched(let options): begin(options)
      case .event(let event): take(event)
      case .action(let action): take(action, machine)
      case .sent(let call, let reply): check(call, reply, machine)
      case .moved(let id, let network, let sent, let received): moved(id, network, sent + received)
      case .contradiction(let message): report(.invariant, message)
      case .othersMoved, .leased, .died: break
      }
    }
    for effect in effects { count(effect) }
    endWindow(machine)
    if machine.counters.eventsAtOnce > bound(machine) {
      report(.busyLoop, "\(machine.counters.eventsAtOnce) events while no time passes")
    }
    if eventsInLaunch > 10 * bound(machine) { report(.busyLoop, "\(eventsInLaunch) events in a launch") }
  }

  private func bound(_ machine: VirtualMachine) -> Int {
    200 + 20 * plan.nodes.indices.reduce(0) { $0 + machine.listing(of: NodeID($1)).count }
  }

  private mutating func begin(_ options: LaunchOptions) {
    self.options = options
    startedAt = now
    conditions = options.conditions
    let window = plan.policies.executionWindow
    let length: Duration? =
      switch options.launch {
      case .foreground: nil
      case .background: window.background
      case .fetch: window.fetch
      case .event: window.event
      case .continuous: window.continuous
      }
    windowEndsAt = length.map { now.advanced(by: $0) }
    if options.launch == .foreground { inForeground.formUnion(states.keys) }
  }

  private mutating func take(_ event: Event) {
    eventsInLaunch += 1
    switch event {
    case .resourceAssigned(let id, _): learnResource(id)
    case .finished(let results): for result in results { finish(result) }
    case .synced(let through): synced = through
    case .stop: stoppedAt = stoppedAt ?? now
    case .conditions(let new):
      if new.network != conditions.network {
        for id in flights.keys { flights[id]?.hasChangedNetwork = true }
      }
      conditions = new
    case .hangUp:
      guard options.launch == .foreground, windowEndsAt == nil else { return }
      windowEndsAt = plan.policies.executionWindow.foreground.map { now.advanced(by: $0) }
    case .cancelled(let session, _, let finishing, _):
      cancelled[session] = (cancelled[session] ?? true) && finishing
    case .submitted(let node, let items):
      let hasEnded = batches[node.index]?.open.isEmpty ?? true
      guard hasEnded || late.contains(where: { $0.node == node.index }) else { return }
      for item in 0..<items.count {
        late.insert(FileKey(node: node.index, path: Array(items.files.path(item))))
      }
    case .listed, .launched, .timer, .moved, .leased, .uploadIDsInUse, .drained: break
    }
  }

  private mutating func finish(_ result: AttemptResult) {
    guard let flight = flights.removeValue(forKey: result.id) else {
      return report(.requests, "request \(result.id) ended twice")
    }
    let ref = flight.call.attempt.ref
    if result.hasFailed { failingSince = min(failingSince ?? now, now) }
    learnOfCommit(flight.call, result)
    learnOffset(flight.call, result)
    learnCreation(flight.call, result)
    if let deadline = flight.call.attempt.deadline, now > deadline {
      report(
        .resource,
        "\(flight.call.step.rawValue) of \(plan.nodes[ref.node.index].name) continued after its deadline")
    }
    if flight.call.step == .token, case .response(let response) = result.answer, response.status == 200 {
      begunAt[ref] = nil
    }
    guard case .response(let response) = result.answer, response.status == 401 else {
      refusals[ref] = nil
      return
    }
    let before = refusals[ref]?.step == flight.call.step ? refusals[ref] : nil
    // A request that was sent before the last refusal could not have a new token.
    if let before, flight.call.now < before.at { return }
    refusals[ref] = (flight.call.step, (before?.count ?? 0) + 1, now)
  }

  private mutating func take(_ action: Action, _ machine: VirtualMachine) {
    switch action {
    case .cancel(let id):
      if flights[id] == nil { report(.requests, "request \(id) is canceled but not running") }
      flights[id]?.isCancelled = true
    case .record(let entries):
      recorded += 1
      for entry in entries { take(entry, machine) }
    case .end:
      if synced < recorded { report(.nothingLost, "it ended before all records were on disk") }
      if !flights.isEmpty { report(.requests, "it ended with \(flights.count) requests running") }
    case .start, .sync, .lease, .keepLeases, .windowExpired, .list: break
    }
  }

  private mutating func take(_ entry: JournalEntry, _ machine: VirtualMachine) {
    switch entry {
    case .itemsQueued(let node, let range, _): handOver(node, range, machine)
    case .intentRecorded(let ref, .commitAgain), .intentRecorded(let ref, .commitDeferred),
      .intentWithdrawn(let ref):
      intents[ref] = nil
    case .intentRecorded(let ref, _): intents[ref] = recorded
    case .fileTransferred(let ref):
      transferred[ref] = recorded
      checkWhole(ref, machine)
    case .itemClosed(let ref, let state, let failure, _):
      close(ref, state, machine)
      if failure?.code == .init(TransportFailure.Code.resourceTimeout) { checkRunOut(ref, machine) }
      if state == .failed, failure?.status == 503 { checkGivenUp(ref, machine) }
    case .sessionResumed(let session, let state): resume(session, state)
    case .uploadIDDiscarded(let ref):
      if unknownCommits.contains(key(ref, machine)) {
        report(
          .nothingTwice,
          "\(name(ref, machine)) loses its upload ID, but its commit may have been executed")
      }
    case .uploadIDAllocated(let ref, _): allocated[ref] = recorded
    case .transferAdvanced, .uploadIDUpdated, .sessionInForeground, .batchCompleted,
      .uploadIDOrphaned,
      .orphanResolved,
      .orphanReleaseFailed, .fetchFailed, .nodeFailing:
      break
    }
  }

  func key(_ ref: ItemRef, _ machine: VirtualMachine) -> FileKey {
    FileKey(node: ref.node.index, path: machine.scheduler.path(of: ref).map(Array.init) ?? [])
  }

  func name(_ ref: ItemRef, _ machine: VirtualMachine) -> String {
    let path = String(decoding: key(ref, machine).path, as: UTF8.self)
    return plan.nodes[ref.node.index].name + (path.isEmpty ? "" : "/\(path)")
  }

  func step(_ call: Call) -> Step {
    let node = plan.nodes[call.attempt.ref.node.index]
    return node.steps.first { $0.kind == call.step } ?? node.steps[0]
  }
}
