import FerryManifest
import HeapModule

/// The core state machine, which receives events and returns actions. A run, a plan, a simulation and a
/// crash test all use this same state machine; only the clock and the code that performs the actions differ.
///
/// It has no clock and performs no I/O, and its randomness comes from the seed in its options. The cost of
/// an event does not depend on the number of waiting items: items that have not begun are stored as ranges,
/// and retries in a heap.
package struct Scheduler: Sendable {
  package internal(set) var plan: Plan
  var steps: StepTable
  let options: LaunchOptions
  var random: SeededRandom
  package internal(set) var now = Instant(nanoseconds: 0)
  var startedAt = Instant(nanoseconds: 0)
  /// The machine's current conditions.
  package internal(set) var conditions: DeviceConditions

  var nodes: [NodeState]
  var uploads: [UploadState] = []
  /// The number of uploads whose files are still being listed while the first ones are sent.
  var incompleteListings = 0
  /// Indices into `uploads`, by node.
  var uploadIndex: [Int?]
  var tokens: [Int: TokenState] = [:]
  var sessions: [SessionState]
  var hostQueues: [HostQueue] = []
  var hostQueueIndices: [HostQueue.Key: Int] = [:]
  /// Retries, and steps that wait for their deadline.
  var timers = Heap<Timer>()
  /// Transfers that were created in the background and wait for the resume delay.
  var creations = Heap<Timer>()
  var flights: [UInt64: Flight] = [:]
  /// The budget gates, one for each set of budgets that limit a session on the launch's network.
  var gates: [BudgetGate] = []
  /// The gates of each session.
  var sessionGates: [SessionGates] = []

  /// The actions for the current event.
  var actions: [Action] = []
  var entries: [JournalEntry] = []

  var attemptCount: UInt64 = 0
  var readyCount: UInt64 = 0
  /// The number of `.record` actions returned, and the number of those known to be on disk.
  var recorded: UInt64 = 0
  var synced: UInt64 = 0
  var begunCount = 0
  var stop: (cause: StopCause, cancelAt: Instant)?
  /// The time at which a signal or the launch's deadline stopped the launch.
  package internal(set) var stoppedAt: Instant?
  /// The end of the execution window, and whether it has passed.
  package internal(set) var windowEndsAt: Instant?
  var isWindowClosed = false
  /// The time at which the launch became idle; `nil` while it has work in progress.
  var idleSince: Instant?
  /// Whether the remaining work has been reported, so that the launch only waits for the disk.
  package internal(set) var isEnding = false
  package internal(set) var hasEnded = false
  package internal(set) var metrics = RunMetrics()

  /// A request that has started and has not ended.
  struct Flight: Sendable {
    var attempt: Attempt
    var hostQueue: Int
    var startedAt: Instant
    /// The reason why the request was canceled, if that determines how to continue.
    var interruption: Interruption?
  }

  enum Interruption: Hashable, Sendable {
    /// The conditions have changed; the request is sent again when they allow it.
    case conditions
    /// The execution window has ended; the request remains for a later launch.
    case expired
    /// `ferry cancel` canceled the work.
    case cancelled(RecordedFailure)
    /// The server has stated that it will refuse the file.
    case refused(RecordedFailure)
    /// Another request for the same file has failed in such a way that this request has become useless.
    case superseded
  }

  /// - Parameters:
  ///   - starts: the state of each node of the plan, in the plan's order.
  ///   - intervals: the intervals of fetches, from the journal.
  ///   - failingSince: for nodes that have failed in this round and remained open, the time of the first failure.
  ///   - delays: the resume delays of sessions, from the journal.
  ///   - foreground: by session, the times up to which queued work is not inferred to be discretionary, from the
  ///     journal.
  ///   - orphans: for each upload, the number of upload IDs of earlier launches to release.
  ///   - dropped: for each upload, the number of upload IDs that this launch has already dropped, whether or
  ///     not it releases them.
  ///   - listsLater: the uploads whose lists are read when the uploads open.
  ///   - listsInPortions: the uploads whose starts contain only the first files. The others follow in portions.
  package init(
    plan: Plan, starts: [NodeStart], intervals: [NodeID: Duration] = [:],
    failingSince: [NodeID: Instant] = [:], delays: [SessionID: ResumeState] = [:],
    foreground: [SessionID: Instant] = [:],
    orphans: [NodeID: Int] = [:], dropped: [NodeID: Int] = [:], listsLater: Set<NodeID> = [],
    listsInPortions: Set<NodeID> = [], options: LaunchOptions
  ) {
    precondition(starts.count == plan.nodes.count, "every node must have a start")
    self.plan = plan
    steps = StepTable(plan)
    self.options = options
    conditions = options.conditions
    random = SeededRandom(seed: options.seed)
    nodes = []
    uploadIndex = Array(repeating: nil, count: plan.nodes.count)
    sessionGates = Array(repeating: SessionGates(), count: plan.sessions.count)
    sessions = plan.sessions.indices.map { index in
      SessionState(
        delay: delays[SessionID(index)] ?? ResumeState(), foregroundAt: foreground[SessionID(index)])
    }
    for (index, start) in starts.enumerated() {
      addNode(NodeID(index), start, keptInterval: intervals[NodeID(index)])
      nodes[index].failingSince = failingSince[NodeID(index)]
      if let upload = uploadIndex[index], case .upload(let work) = plan.nodes[index].work {
        uploads[upload].releases = Releases(
          found: work.abandon == nil ? 0 : orphans[NodeID(index)] ?? 0, dropped: dropped[NodeID(index)] ?? 0)
        if listsLater.contains(NodeID(index)) { uploads[upload].list = .later }
        if listsInPortions.contains(NodeID(index)) {
          uploads[upload].list = .partial
          incompleteListings += 1
        }
      }
    }
    prepareHostQueues()
  }

  /// Handles one event and returns the actions to perform, in order.
  package mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    self.now = max(self.now, now)
    actions.removeAll(keepingCapacity: true)
    switch event {
    case .launched: startLaunch()
    case .timer: break
    case .finished(let results):
      for result in results { finish(result) }
      // Requests that ended in the same event as the request because of which they were to be canceled.
      actions.removeAll { if case .cancel(let id) = $0 { flights[id] == nil } else { false } }
    case .resourceAssigned(let attempt, let assignment): assign(assignment, to: attempt)
    case .synced(let through): synced = max(synced, through)
    case .stop, .conditions, .cancelled, .drained, .submitted: if !isEnding { takeNews(event) }
    // The report of a launch that is ending counts the files that it has listed.
    case .listed(let node, let list): take(list, of: node)
    case .moved(let bytes): count(moved: bytes)
    case .leased(let lease, let request): take(lease, for: request)
    case .hangUp: hangUp()
    case .uploadIDsInUse(let orphans): regain(orphans)
    }
    if let deadlineAhead, deadlineAhead <= self.now { stopLaunch(.maxDuration) }
    advance()
    return actions
  }

  /// Handles an event from outside the launch. Such events have no effect once the launch is ending.
  private mutating func takeNews(_ event: Event) {
    switch event {
    case .stop(let cause): stopLaunch(cause)
    case .conditions(let conditions): change(to: conditions)
    case .cancelled(let session, let manifest, let finishing, let failure):
      cancel(session, of: manifest, finishing: finishing, failure)
    case .drained(let session, let manifest, let failure): drain(session, of: manifest, failure)
    case .submitted(let node, let items): add(items, to: node)
    case .launched, .resourceAssigned, .timer, .finished, .synced, .moved, .leased, .hangUp, .uploadIDsInUse,
      .listed:
      break
    }
  }

  private mutating func startLaunch() {
    startedAt = now
    openWindow()
    noteForeground()
    for upload in uploads.indices { holdItems(of: upload) }
    openGates()
    correctDelays()
  }

  /// The launch's deadline, unless it can no longer have an effect.
  var deadlineAhead: Instant? { stop == nil && !isEnding ? options.deadline : nil }

  private mutating func advance() {
    closeWindowIfOver()
    if isEnding {
      // Remaining work is not changed; the launch only waits for the disk.
    } else if stop == nil {
      rollGates()
      fireTimers()
      releaseDelayed()
      openNodes()
      moveIntents()
      fillHostQueues()
      // A batch that ended immediately, such as an empty upload, may allow other nodes to open.
      while handleCompletions() || openNodes() { fillHostQueues() }
      continueListings()
    } else {
      while openNodes() {}
      cancelAfterGrace()
    }
    endIfIdle()
    if !entries.isEmpty {
      recorded += 1
      // Records come before the requests that they announce.
      actions.insert(.record(entries), at: 0)
      entries.removeAll(keepingCapacity: true)
    }
  }

  /// The number of the `.record` action that will contain the current event's entries.
  var sequence: UInt64 { recorded + 1 }

  private mutating func fireTimers() {
    while let timer = timers.min, timer.at <= now {
      timers.removeMin()
      comeBack(timer.ready)
    }
    while let creation = creations.min, creation.at <= now {
      creations.removeMin()
      comeBack(creation.ready)
    }
  }

  mutating func comeBack(_ ready: Ready) {
    change(ready.ref, .proceed)
    guard now < deadline(of: ready.ref) else { return runOut(ready.ref) }
    enqueue(ready)
  }

  private mutating func stopLaunch(_ cause: StopCause) {
    let isFirst = stop == nil
    recordStop(cause)
    if isFirst { leaveWaiting() }
  }

  private mutating func recordStop(_ cause: StopCause) {
    switch (stop?.cause, cause) {
    case (nil, _):
      metrics.stop = cause
      stop = (cause, cause == .now ? now : now.advanced(by: options.grace))
      stoppedAt = now
    case (.maxDuration, .interrupt), (.maxDuration, .terminate):
      // This is the first signal: it requests the grace period that is already running.
      metrics.stop = cause
      stop?.cause = cause
    case (.interrupt, _), (.terminate, _), (.maxDuration, _), (.now, _): stop = (.now, now)
    }
  }

  /// Records a signal that arrived after the launch had ended, while its `after` actions were performed.
  package mutating func recordStop(_ cause: StopCause, at now: Instant) {
    self.now = max(self.now, now)
    recordStop(cause)
  }

  /// Whether no more work is started, because of a signal or the launch's deadline.
  package var isStopping: Bool { stop != nil }

  /// How long work outside of the launch may continue after the launch: the grace period if a signal or the deadline
  /// ended the launch, zero after a second signal; otherwise `nil`, which means no limit.
  package var timeAfterStop: Duration? { stop.map { $0.cause == .now ? .zero : options.grace } }

  /// The reason recorded for work that a stopping launch leaves.
  var stopReason: RecordedFailure { metrics.stop == .maxDuration ? .maxDuration : .stopped }

  private mutating func cancelAfterGrace() {
    guard let stop, now >= stop.cancelAt else { return }
    for id in flights.keys.sorted() { actions.append(.cancel(id)) }
    // Cancel the requests only once, because each of them will end.
    self.stop?.cancelAt = .distantFuture
  }
}
