import FerryManifest
import HeapModule

/// The heart: events in, actions out. A run, a plan, a simulation and a crash test drive this same
/// state machine; only the clock and the performer of its actions differ.
///
/// It has no clock, no randomness and no I/O of its own. An event costs the same however many items
/// wait: those not begun are ranges, retries a heap.
package struct Scheduler: Sendable {
  package let plan: Plan
  let options: LaunchOptions
  var random: SeededRandom
  var now = Instant(nanoseconds: 0)
  /// When the launch began.
  var startedAt = Instant(nanoseconds: 0)
  /// What the machine has now.
  package internal(set) var conditions: DeviceConditions

  var nodes: [NodeState]
  var uploads: [UploadState] = []
  /// Indices into `uploads` and `tokens`, by node.
  var uploadIndex: [Int?]
  var tokens: [Int: TokenState] = [:]
  var sessions: [SessionState]
  var hostQueues: [HostQueue] = []
  var laneIndex: [HostQueue.Key: Int] = [:]
  /// Retries.
  var timers = Heap<Timer>()
  /// Transfers that were created in the background and wait for the resume delay.
  var creations = Heap<Timer>()
  var flights: [UInt64: Flight] = [:]
  /// Of the network that the launch is on, where it has a budget.
  var gate: BudgetGate?

  /// Of the event in hand.
  var actions: [Action] = []
  var entries: [JournalEntry] = []

  var attemptCount: UInt64 = 0
  var readyCount: UInt64 = 0
  /// `.record` actions given and known to be on disk.
  var recorded: UInt64 = 0
  var synced: UInt64 = 0
  var begunCount = 0
  var stop: (cause: StopCause, cancelAt: Instant)?
  /// The end of the execution window, and whether it has come.
  var windowEndsAt: Instant?
  var isWindowClosed = false
  /// Since when there is nothing to do but to wait.
  var idleSince: Instant?
  /// What is left was told: only the disk is waited for.
  package internal(set) var isEnding = false
  package internal(set) var hasEnded = false
  package internal(set) var metrics = RunMetrics()

  /// A request that was started and has not ended.
  struct Flight: Sendable {
    var attempt: Attempt
    var hostQueue: Int
    var startedAt: Instant
    /// Why it was cancelled, where that decides what becomes of it.
    var interruption: Interruption?
  }

  enum Interruption: Sendable {
    /// The network is another: it is sent again when it may be.
    case conditions
    /// The execution window has ended: it is left for a later launch.
    case expired
    /// `ferry cancel`.
    case cancelled
  }

  /// - Parameters:
  ///   - starts: what is found of each of the plan's nodes, in their order.
  ///   - intervals: of fetches: what the journal keeps.
  ///   - delays: of sessions: likewise.
  ///   - orphans: of uploads: how many upload IDs of earlier launches are to be released.
  ///   - dropped: of uploads: how many upload IDs this launch has dropped already, whether it releases them or not.
  package init(
    plan: Plan, starts: [NodeStart], intervals: [NodeID: Duration] = [:],
    delays: [SessionID: ResumeState] = [:], orphans: [NodeID: Int] = [:], dropped: [NodeID: Int] = [:],
    options: LaunchOptions
  ) {
    precondition(starts.count == plan.nodes.count, "every node has a start")
    self.plan = plan
    self.options = options
    conditions = options.conditions
    random = SeededRandom(seed: options.seed)
    nodes = []
    uploadIndex = Array(repeating: nil, count: plan.nodes.count)
    sessions = plan.sessions.indices.map { SessionState(delay: delays[SessionID($0)] ?? ResumeState()) }
    for (index, start) in starts.enumerated() {
      addNode(NodeID(index), start, keptInterval: intervals[NodeID(index)])
      if let upload = uploadIndex[index], case .upload(let work) = plan.nodes[index].work {
        uploads[upload].releases = Releases(
          found: work.abandon == nil ? 0 : orphans[NodeID(index)] ?? 0, dropped: dropped[NodeID(index)] ?? 0)
      }
    }
    metrics.idsOrphaned = dropped.values.reduce(0, +)
    for node in plan.nodes {
      for step in node.steps where step.repeatability == .once {
        hostQueues[hostQueue(step.session, step.origin)].needsIntents = true
      }
    }
    for hostQueue in hostQueues.indices {
      hostQueues[hostQueue].sources.sort { (uploads[$0].priority, $0) < (uploads[$1].priority, $1) }
    }
  }

  /// Takes one event and tells what to do, in order.
  package mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    self.now = max(self.now, now)
    actions.removeAll(keepingCapacity: true)
    switch event {
    case .launched: begin()
    case .timer: break
    case .finished(let results): for result in results { finish(result) }
    case .synced(let through): synced = max(synced, through)
    case .stop, .conditions, .cancelled, .submitted: if !isEnding { takeNews(event) }
    case .moved(let bytes): gate?.moved(bytes)
    case .leased(let lease, let request): take(lease, for: request)
    case .hangUp: hangUp()
    case .uploadIDsInUse(let orphans):
      for ref in orphans { if let orphan = ref.orphan { regain([orphan], of: ref.node) } }
    }
    if let deadlineAhead, deadlineAhead <= self.now { begin(stop: .maxDuration) }
    advance()
    return actions
  }

  /// What comes from outside, while it can change anything.
  private mutating func takeNews(_ event: Event) {
    switch event {
    case .stop(let cause): begin(stop: cause)
    case .conditions(let conditions): change(to: conditions)
    case .cancelled(let session, let manifest, let finishing):
      cancel(session, of: manifest, finishing: finishing)
    case .submitted(let node, let items): add(items, to: node)
    case .launched, .timer, .finished, .synced, .moved, .leased, .hangUp, .uploadIDsInUse: break
    }
  }

  private mutating func begin() {
    startedAt = now
    openWindow()
    openGate()
    resetDelays()
  }

  /// The launch's deadline, while it can still end anything.
  var deadlineAhead: Instant? { stop == nil && !isEnding ? options.deadline : nil }

  private mutating func advance() {
    closeWindowIfOver()
    if isEnding {
      // What is left stays left; only the disk is waited for.
    } else if stop == nil {
      rollGate()
      fireTimers()
      releaseDelayed()
      openNodes()
      moveIntents()
      fillHostQueues()
      // A batch that ended at once (an empty upload, say) may let others open.
      while handleCompletions() || openNodes() { fillHostQueues() }
    } else {
      while openNodes() {}
      cancelAfterGrace()
    }
    endIfIdle()
    if !entries.isEmpty {
      recorded += 1
      // What is recorded goes before what is started.
      actions.insert(.record(entries), at: 0)
      entries.removeAll(keepingCapacity: true)
    }
  }

  /// The number that the entries of the event in hand will have.
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

  private mutating func comeBack(_ ready: Ready) {
    if let upload = itemsUpload(of: ready.ref) { uploads[upload].inProgress += 1 }
    guard now < deadline(of: ready.ref) else { return runOut(ready.ref) }
    enqueue(ready)
  }

  private mutating func begin(stop cause: StopCause) {
    switch (stop?.cause, cause) {
    case (nil, _):
      metrics.stop = cause
      stop = (cause, cause == .now ? now : now.advanced(by: options.grace))
      leaveWaiting()
    case (.maxDuration, .interrupt), (.maxDuration, .terminate):
      // The first signal: it asks for the grace that runs already.
      metrics.stop = cause
      stop?.cause = cause
    case (.interrupt, _), (.terminate, _), (.maxDuration, _), (.now, _): stop = (.now, now)
    }
  }

  /// Whether nothing more is started: a signal, or the launch's deadline.
  package var isStopping: Bool { stop != nil }

  /// What a launch that stops leaves things with.
  var stopReason: RecordedFailure { metrics.stop == .maxDuration ? .maxDuration : .stopped }

  private mutating func cancelAfterGrace() {
    guard let stop, now >= stop.cancelAt else { return }
    for id in flights.keys.sorted() { actions.append(.cancel(id)) }
    // Once is enough: each of them ends.
    self.stop?.cancelAt = .distantFuture
  }
}
