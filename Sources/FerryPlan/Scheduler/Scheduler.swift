import FerryManifest
import HeapModule

/// The heart: events in, actions out. A run, a plan, a simulation and a crash test drive this same
/// state machine; only the clock and the performer of its actions differ.
///
/// It has no clock, no randomness and no I/O of its own. An event costs the same however many items
/// wait: those not begun are a range, retries a heap.
package struct Scheduler: Sendable {
  package let plan: Plan
  let options: LaunchOptions
  var random: SeededRandom
  var now = Instant(nanoseconds: 0)

  var nodes: [NodeState]
  var uploads: [UploadState] = []
  /// Indices into `uploads` and `tokens`, by node.
  var uploadIndex: [Int?]
  var tokens: [Int: TokenState] = [:]
  var lanes: [Lane] = []
  var laneIndex: [Lane.Key: Int] = [:]
  var timers = Heap<Timer>()
  var flights: [UInt64: Flight] = [:]

  /// Of the event in hand.
  var actions: [Action] = []
  var entries: [JournalEntry] = []

  var attemptCount: UInt64 = 0
  var readyCount: UInt64 = 0
  /// `.record` actions given and known to be on disk.
  var recorded: UInt64 = 0
  var synced: UInt64 = 0
  /// `.record` actions known to be written.
  var written: UInt64 = 0
  /// Commits that wait until the journal says that the file is there: a launch that died in between would
  /// otherwise send the file again to an ID that is committed.
  var unwritten: [(sequence: UInt64, ready: Ready)] = []
  var begunCount = 0
  var stop: (cause: StopCause, cancelAt: Instant)?
  var isEnding = false
  package private(set) var hasEnded = false
  package internal(set) var tally = Tally()

  /// A request that was started and has not ended.
  struct Flight: Sendable {
    var attempt: Attempt
    var lane: Int
    var startedAt: Instant
  }

  /// - Parameter starts: what is found of each of the plan's nodes, in their order.
  /// - Parameter intervals: of fetches: what the journal keeps.
  package init(
    plan: Plan, starts: [NodeStart], intervals: [NodeID: Duration] = [:], options: LaunchOptions
  ) {
    precondition(starts.count == plan.nodes.count, "every node has a start")
    self.plan = plan
    self.options = options
    random = SeededRandom(seed: options.seed)
    nodes = []
    uploadIndex = Array(repeating: nil, count: plan.nodes.count)
    for (index, start) in starts.enumerated() {
      addNode(NodeID(index), start, keptInterval: intervals[NodeID(index)])
    }
    for node in plan.nodes {
      for step in node.steps where step.repeatability == .once {
        lanes[lane(step.session, step.origin)].needsIntents = true
      }
    }
    for lane in lanes.indices {
      lanes[lane].sources.sort { (uploads[$0].priority, $0) < (uploads[$1].priority, $1) }
    }
  }

  /// Takes one event and tells what to do, in order.
  package mutating func handle(_ event: Event, at now: Instant) -> [Action] {
    self.now = max(self.now, now)
    actions.removeAll(keepingCapacity: true)
    switch event {
    case .launched, .timer: break
    case .finished(let results): for result in results { finish(result) }
    case .written(let through): written = max(written, through)
    case .synced(let through):
      synced = max(synced, through)
      written = max(written, synced)
    case .stop(let cause): begin(stop: cause)
    }
    if let deadlineAhead, deadlineAhead <= self.now { begin(stop: .maxDuration) }
    advance()
    return actions
  }

  /// When `.timer` is due, if nothing else happens before; `nil` where only other events lead on.
  package var nextWakeup: Instant? {
    var next = timers.min?.at
    for lane in lanes {
      guard let resumeAt = lane.resumeAt, resumeAt > now, lane.givenUp == nil, lane.hold == nil else {
        continue
      }
      next = min(next ?? resumeAt, resumeAt)
    }
    if let stop, stop.cause != .now, !flights.isEmpty { next = min(next ?? stop.cancelAt, stop.cancelAt) }
    if let deadlineAhead { next = min(next ?? deadlineAhead, deadlineAhead) }
    return next
  }

  /// The launch's deadline, while it can still end anything.
  private var deadlineAhead: Instant? { stop == nil && !isEnding ? options.deadline : nil }

  private mutating func advance() {
    if stop == nil {
      fireTimers()
      moveWritten()
      openNodes()
      moveIntents()
      fillLanes()
      // A batch that ended at once (an empty upload, say) may let others open.
      while openNodes() { fillLanes() }
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
      if let upload = uploadIndex[timer.ready.place.node.index] { uploads[upload].inProgress += 1 }
      enqueue(timer.ready)
    }
  }

  private mutating func moveWritten() {
    guard let first = unwritten.first, first.sequence <= written else { return }
    let through = unwritten.prefix { $0.sequence <= written }
    unwritten.removeFirst(through.count)
    for (_, ready) in through { enqueue(ready) }
  }

  private mutating func begin(stop cause: StopCause) {
    switch (stop?.cause, cause) {
    case (nil, _):
      tally.stop = cause
      stop = (cause, cause == .now ? now : now.advanced(by: options.grace))
      leaveWaiting()
    case (.maxDuration, .interrupt), (.maxDuration, .terminate):
      // The first signal: it asks for the grace that runs already.
      tally.stop = cause
      stop?.cause = cause
    case (.interrupt, _), (.terminate, _), (.maxDuration, _), (.now, _): stop = (.now, now)
    }
  }

  /// What a launch that stops leaves things with.
  var stopReason: RecordedFailure { tally.stop == .maxDuration ? .maxDuration : .stopped }

  private mutating func cancelAfterGrace() {
    guard let stop, now >= stop.cancelAt else { return }
    for id in flights.keys.sorted() { actions.append(.cancel(id)) }
    // Once is enough: each of them ends.
    self.stop?.cancelAt = .distantFuture
  }

  /// Nothing runs, nothing can start and no moment is waited for: the launch is over once all is on disk.
  private mutating func endIfIdle() {
    guard !hasEnded, flights.isEmpty else { return }
    if stop == nil {
      guard timers.isEmpty, unwritten.isEmpty, lanes.allSatisfy({ $0.isIdle(at: now) }), !isAnyNodeBusy else {
        return
      }
    } else if isAnyNodeSettling {
      // What needs it may have to be skipped.
      return
    }
    if !isEnding {
      isEnding = true
      leaveTheRest()
    }
    if entries.isEmpty, synced >= recorded {
      hasEnded = true
      actions.append(.end)
    } else if synced < sequence {
      actions.append(.sync)
    }
  }

  private var isAnyNodeSettling: Bool {
    nodes.contains { if case .settling = $0.phase { true } else { false } }
  }

  private var isAnyNodeBusy: Bool {
    nodes.indices.contains { index in
      switch nodes[index].phase {
      case .settling: return true
      case .open:
        guard let upload = uploadIndex[index] else { return false }
        return !uploads[upload].pending.isEmpty && uploads[upload].heldUntil > synced
      case .notSelected, .waiting, .closed, .left: return false
      }
    }
  }
}

extension Lane {
  /// Nothing of it will start by itself.
  func isIdle(at now: Instant) -> Bool {
    guard intending.isEmpty, intended.isEmpty else { return false }
    return ready.isEmpty || hold != nil
  }
}
