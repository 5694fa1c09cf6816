import FerryManifest

/// The resume delay: completions in the background are handled together, and the work that they create
/// waits.
extension Scheduler {
  /// Whether the session's transfers run in the background, so that their completions are handled at resumes.
  func hasResumes(_ session: SessionID) -> Bool {
    options.launch != .foreground && !sessions[session.index].isCancelled
      && plan.policies.resumeDelay.policy != .none
      && plan.sessions[session.index].kind == .background
  }

  func session(of node: NodeID) -> SessionID { plan.nodes[node.index].session }

  /// Resets the delay in a foreground launch. A resume in the future was recorded while the clock was ahead:
  /// its delay begins now, so that it ends one period from now.
  mutating func correctDelays() {
    for index in sessions.indices {
      guard hasResumes(SessionID(index)), let resumedAt = sessions[index].delay.resumedAt, resumedAt > now
      else { continue }
      sessions[index].delay.resumedAt = now
      entries.append(.sessionResumed(SessionID(index), sessions[index].delay))
    }
    guard options.launch == .foreground else { return }
    for index in sessions.indices where sessions[index].delay != ResumeState() {
      sessions[index].delay = ResumeState()
      entries.append(.sessionResumed(SessionID(index), ResumeState()))
    }
  }

  /// The earliest start of a transfer that is created now; `nil` for immediately.
  func startsNoSooner(_ session: SessionID) -> Instant? {
    guard hasResumes(session), plan.policies.resumeDelay.policy == .beforeStart,
      let end = sessions[session.index].delay.endsAt, end > now
    else { return nil }
    return end
  }

  /// Records a resume: completed background work is handled now.
  mutating func resume(_ session: SessionID) {
    let policy = plan.policies.resumeDelay
    sessions[session.index].delay = sessions[session.index].delay.resumed(at: now, policy)
    entries.append(.sessionResumed(session, sessions[session.index].delay))
    metrics.resumes += 1
    openWindowOfResume()
  }

  /// Enqueues a step that starts a new transfer.
  mutating func enqueueCreated(_ ref: ItemRef, _ kind: Step.Kind) {
    guard let start = startsNoSooner(session(of: ref.node)) else { return enqueue(ref, kind) }
    change(ref, .wait)
    creations.insert(Timer(at: start, ready: ready(ref, kind)))
  }

  /// Releases items of background batches whose delay has passed.
  mutating func releaseDelayed() {
    for upload in uploads.indices {
      guard let delayed = uploads[upload].delayed, delayed.until <= now else { continue }
      uploads[upload].delayed = nil
      prepend(delayed.items, to: upload)
    }
  }

  // MARK: Batches

  /// Keeps a transferred item's next step until the item's batch has completed (`isBatchComplete`).
  mutating func keepUntilBatchCompletes(_ ready: Ready, _ upload: Int) {
    change(ready.ref, .wait)
    uploads[upload].sent.append(ready)
    // The batch may have counted as complete without this item, because the budget was too small for it.
    uploads[upload].isHandled = false
  }

  /// Whether every item of the batch has been sent or has ended, except items skipped by the budget, which
  /// are sent in another window.
  func isBatchComplete(_ upload: Int) -> Bool {
    uploads[upload].tally.untransferred <= uploads[upload].skipped.count + queryCount(of: upload)
  }

  /// Marks the batches that have completed (`isBatchComplete`), and handles the completions that are due.
  /// Returns whether any completions were handled.
  mutating func handleCompletions() -> Bool {
    for index in uploads.indices where hasResumes(session(of: uploads[index].node)) { noteIfThrough(index) }
    var hasChanged = false
    for index in sessions.indices {
      guard let moment = sessions[index].handlesAt, moment <= now else { continue }
      let unhandled = sessions[index].unhandled
      sessions[index].unhandled = []
      sessions[index].handlesAt = nil
      resume(SessionID(index))
      for completion in unhandled { handle(completion) }
      hasChanged = true
    }
    return hasChanged
  }

  /// Whether the upload's next batch waits for the completion of a batch that an earlier launch of this
  /// round sent: the completion is handled no sooner than the resume delay ends.
  func followsCompletedBatch(_ upload: Int) -> Bool {
    let state = uploads[upload]
    let session = session(of: state.node)
    guard hasResumes(session), plan.policies.resumeDelay.policy == .afterCompletion,
      let end = sessions[session.index].delay.endsAt, end > now,
      state.counts.done + state.counts.failed + state.counts.ambiguous > 0
    else { return false }
    // Items that an earlier launch left open belong to a batch that has not completed.
    return state.tally.open > 0 && !state.items.entries.contains { $0 == .continuing || $0 == .adopted }
  }

  private mutating func noteIfThrough(_ index: Int) {
    let upload = uploads[index]
    guard !upload.isHandled, upload.handedOver > 0, isBatchComplete(index),
      case .open = nodes[upload.node.index].phase,
      upload.tally.batch == 0 || !upload.sent.isEmpty
    else { return }
    uploads[index].isHandled = true
    owe(.batch(index), session(of: upload.node))
  }

  /// Schedules a completion to be handled at the next resume of its session.
  mutating func owe(_ completion: SessionState.Unhandled, _ session: SessionID) {
    sessions[session.index].unhandled.append(completion)
    guard sessions[session.index].handlesAt == nil else { return }
    let end = sessions[session.index].delay.endsAt
    let isDelayed = plan.policies.resumeDelay.policy == .afterCompletion
    sessions[session.index].handlesAt = isDelayed ? max(now, end ?? now) : now
  }

  private mutating func handle(_ completion: SessionState.Unhandled) {
    switch completion {
    case .node(let index, let outcome): settle(index, outcome)
    case .rejection(let ready): comeBack(ready)
    case .batch(let upload):
      let sent = uploads[upload].sent
      uploads[upload].sent = []
      for ready in sent {
        change(ready.ref, .proceed)
        enqueue(ready)
      }
      closeIfThrough(upload)
    }
  }

  /// The reason recorded for work that is waiting for the delay.
  func delay(until moment: Instant, _ node: NodeID) -> RecordedFailure {
    let session = plan.sessions[session(of: node).index]
    return .init(
      code: .delay, message: "waiting for the resume delay of session '\(session.name)'", until: moment)
  }
}
