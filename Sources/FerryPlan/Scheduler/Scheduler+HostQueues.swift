import FerryManifest

/// Host queues: which step is sent next on which connections.
extension Scheduler {
  mutating func hostQueue(_ session: SessionID, _ origin: Origin?) -> Int {
    let key = HostQueue.Key(session: session, origin: origin)
    if let index = hostQueueIndices[key] { return index }
    hostQueueIndices[key] = hostQueues.count
    hostQueues.append(
      HostQueue(key: key, limit: plan.sessions[session.index].maxConnectionsPerHost, hold: hold(on: session)))
    return hostQueues.count - 1
  }

  func step(_ node: NodeID, _ kind: Step.Kind) -> Step {
    switch plan.nodes[node.index].work {
    case .token(let work): return work.step
    case .fetch(let work): return work.step
    case .request(let work): return work.step
    case .upload(let work):
      switch kind {
      case .allocate: if let allocate = work.allocate { return allocate }
      case .commit: if let commit = work.commit { return commit }
      case .probe: if let probe = work.probe { return probe }
      case .abandon: if let abandon = work.abandon { return abandon }
      case .transfer, .token, .fetch, .request: break
      }
      return work.transfer
    }
  }

  mutating func enqueue(_ ref: ItemRef, _ kind: Step.Kind) { enqueue(ready(ref, kind)) }

  mutating func ready(_ ref: ItemRef, _ kind: Step.Kind) -> Ready {
    readyCount += 1
    let priority: UInt16 =
      switch kind {
      case .token: 0
      // After everything that has its own priority.
      case .abandon: .max
      case .allocate, .transfer, .commit, .probe, .fetch, .request:
        uploadIndex[ref.node.index].map { uploads[$0].priority } ?? 32_768
      }
    return Ready(ref: ref, step: kind, priority: priority, sequence: readyCount)
  }

  mutating func enqueue(_ ready: Ready) {
    let hostQueue = self.hostQueue(for: ready)
    if let failure = hostQueues[hostQueue].givenUp {
      leave(ready.ref, failure)
    } else {
      wait(ready, on: hostQueue)
    }
  }

  /// Inserts a step into the queue.
  private mutating func wait(_ ready: Ready, on hostQueue: Int) {
    if isTooLate(ready, on: hostQueue) {
      waitForDeadline(ready)
    } else {
      hostQueues[hostQueue].ready.insert(ready)
    }
  }

  private mutating func hostQueue(for ready: Ready) -> Int {
    if let hostQueue = self[progress: ready.ref]?.hostQueues[ready.step] { return hostQueue }
    let step = step(ready.ref.node, ready.step)
    return hostQueue(step.session, step.origin)
  }

  /// Moves steps whose intents have reached the disk: they may be sent now.
  mutating func moveIntents() {
    for hostQueue in hostQueues.indices where !hostQueues[hostQueue].intending.isEmpty {
      let written = hostQueues[hostQueue].intending.filter { $0.sequence <= synced }
      hostQueues[hostQueue].intending.removeAll { $0.sequence <= synced }
      for (_, ready) in written {
        if isTooLate(ready, on: hostQueue) {
          waitForDeadline(ready)
        } else {
          hostQueues[hostQueue].intended.insert(ready)
        }
      }
    }
  }

  mutating func fillHostQueues() {
    // A step that starts in one queue can create work for another, so this repeats until nothing changes.
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      for hostQueue in hostQueues.indices { if fill(hostQueue) { hasMoved = true } }
    }
  }

  private mutating func fill(_ hostQueue: Int) -> Bool {
    var hasMoved = false
    while hostQueues[hostQueue].givenUp == nil, hostQueues[hostQueue].hold == nil {
      let hasSlot = hostQueues[hostQueue].freeSlots(at: now) > 0 && hasRoomInWindow(hostQueue)
      // Intents are written before a connection is free.
      let hasIntentRoom = hostQueues[hostQueue].needsIntents && hostQueues[hostQueue].intentRoom > 0
      if hasSlot, let intended = hostQueues[hostQueue].intended.min, !isOvertaken(intended, on: hostQueue) {
        hostQueues[hostQueue].intended.removeMin()
        start(intended, on: hostQueue)
      } else if let commit = hostQueues[hostQueue].ready.min, isCommitToIntend(commit),
        hostQueues[hostQueue].commitRoom > 0
      {
        hostQueues[hostQueue].ready.removeMin()
        pass(commit, on: hostQueue)
      } else if hasSlot || hasIntentRoom, let ready = takeNext(on: hostQueue) {
        let mayPass =
          if isCommitToIntend(ready) { hostQueues[hostQueue].commitRoom > 0 } else {
            needsIntent(ready) ? hasIntentRoom : hasSlot
          }
        guard mayPass else {
          wait(ready, on: hostQueue)
          break
        }
        pass(ready, on: hostQueue)
      } else {
        break
      }
      hasMoved = true
    }
    return hasMoved
  }

  /// Whether a step of higher priority can be sent at once, without an intent.
  private func isOvertaken(_ intended: Ready, on hostQueue: Int) -> Bool {
    if let top = hostQueues[hostQueue].ready.min, top.priority < intended.priority {
      return !needsIntent(top)
    }
    guard let source = eligibleSource(hostQueue), uploads[source].priority < intended.priority,
      case .upload(let work) = plan.nodes[uploads[source].node.index].work
    else { return false }
    // If a budget skips the item, or an earlier launch had begun it, it is not certain that it overtakes.
    return !isGated(uploads[source].node) && uploads[source].items.begun.isEmpty
      && work.first.repeatability != .once
  }

  /// Whether an intent must be on disk first. This applies to every unrepeatable step and every commit: the
  /// next launch has to know that it may have been executed.
  private func needsIntent(_ ready: Ready) -> Bool {
    (ready.step == .commit || step(ready.ref.node, ready.step).repeatability == .once)
      && self[progress: ready.ref]?.intent != .recorded
  }

  /// Whether this is a commit without an intent that can be sent again. It uses no connection while its
  /// intent is written.
  private func isCommitToIntend(_ ready: Ready) -> Bool {
    ready.step == .commit && step(ready.ref.node, .commit).repeatability != .once && needsIntent(ready)
  }

  /// Takes the next step of this queue: the best waiting one, or the first step of a new item.
  private mutating func takeNext(on hostQueue: Int) -> Ready? {
    while let source = eligibleSource(hostQueue) {
      if let top = hostQueues[hostQueue].ready.min, top.step != .abandon,
        top.priority <= uploads[source].priority
      {
        break
      }
      switch admitNext(of: source) {
      case .admitted:
        // If an earlier launch has sent the item, it may wait for its batch instead.
        if let ready = begin(source) { return ready }
      case .asks, .skipped: continue
      }
    }
    return hostQueues[hostQueue].ready.popMin()
  }

  private func eligibleSource(_ hostQueue: Int) -> Int? {
    if let limit = options.limit, begunCount >= limit { return nil }
    // By index, not by value: an upload's state is large, and this runs for each item.
    for index in hostQueues[hostQueue].sources where mayBegin(index) { return index }
    return nil
  }

  private func mayBegin(_ upload: Int) -> Bool {
    guard !uploads[upload].isHeld, !uploads[upload].pending.isEmpty, uploads[upload].heldUntil <= synced,
      uploads[upload].inProgress < uploads[upload].window,
      uploads[upload].ahead < uploads[upload].aheadLimit,
      gate?.asked == nil || !uploads[upload].isDiscretionary,
      case .open = nodes[uploads[upload].node.index].phase
    else { return false }
    for token in uploads[upload].tokens {
      if case .failed = tokens[token]?.phase { return false }
    }
    return true
  }

  /// Begins the next item of an upload, at its first step or where an earlier launch stopped. Returns `nil`
  /// if the item waits for the end of its batch.
  mutating func begin(_ upload: Int) -> Ready? {
    guard let item = uploads[upload].pending.removeFirst() else { return nil }
    let ref = ItemRef(uploads[upload].node, item)
    uploads[upload].inProgress += 1
    uploads[upload].items.phases[item] = .active
    begunCount += 1
    var progress = progress(ofItem: item, upload)
    if progress.step == .allocate {
      progress.isAhead = true
      uploads[upload].ahead += 1
    }
    let isSentBefore = progress.isSent
    // `passTransfer` below sets it again when it updates the batch.
    progress.isSent = false
    uploads[upload].active[item] = progress
    guard isSentBefore else { return ready(ref, progress.step) }
    passTransfer(item, of: upload)
    guard progress.step != .transfer else { return ready(ref, .transfer) }
    guard hasResumes(session(of: ref.node)), progress.intent == .none else {
      return ready(ref, progress.step)
    }
    keepUntilThrough(ref, upload)
    return nil
  }

  /// The progress of an item: at its first step, or where an earlier launch stopped.
  func progress(ofItem item: Int, _ upload: Int) -> Progress {
    guard case .upload(let work) = plan.nodes[uploads[upload].node.index].work else {
      preconditionFailure("only uploads have items")
    }
    var progress = Progress(step: work.first.kind)
    guard let begun = uploads[upload].items.begun[item] else { return progress }
    switch begun.state {
    case .allocated where work.allocate != nil,
      .transferred where work.allocate != nil && work.commit != nil:
      progress.hasUploadID = true
      progress.expires = begun.expires
      progress.step = begun.state == .allocated ? .transfer : .commit
    case .transferred: progress.step = work.commit == nil ? .transfer : .commit
    case .queued, .allocated, .done, .failed, .ambiguous, .cancelled: break
    }
    progress.isSent = begun.state == .transferred
    progress.mayCount = work.mayCount(
      state: begun.state, intent: begun.intent, recorded: uploads[upload].items.countingPoint)
    if progress.isSent, work.commit?.repeatability == .afterProbe,
      [nil, .commit, .commitAgain, .commitDeferred].contains(begun.intent)
    {
      // Without an intent, the commit was not sent; but the probe is asked first anyway.
      progress.step = .probe
      progress.isCommitUnknown = ![nil, .commitDeferred].contains(begun.intent)
      progress.intent = begun.intent == .commit ? .recorded : .none
    } else if begun.intent == .commit, work.commit?.repeatability == .repeatable {
      // An earlier launch may have sent the commit, which is repeatable.
      progress.isCommitUnknown = true
      progress.intent = .recorded
    } else if ![nil, .commitAgain, .commitDeferred].contains(begun.intent) {
      progress.intent = .inherited
    }
    return progress
  }

  /// Starts a step, or makes it wait for what it needs.
  private mutating func pass(_ ready: Ready, on hostQueue: Int) {
    if ready.ref.orphan != nil, self[progress: ready.ref] == nil {
      // Its upload ID is in use again.
      return
    }
    if ready.step == .transfer, self[progress: ready.ref]?.isSent == true {
      // The server has the whole file, and the manifest no longer has a commit.
      return end(ready.ref, .done, nil)
    }
    if self[progress: ready.ref]?.intent == .inherited {
      end(
        ready.ref, .ambiguous,
        .init(
          code: .responseLost,
          message: "a launch was interrupted after \(ready.step.rawValue) may have been sent"))
      return
    }
    let right = self.hostQueue(for: ready)
    if right != hostQueue {
      enqueue(ready)
    } else if needsIntent(ready) {
      guard isTokenReady(for: ready) else { return }
      entries.append(.intentRecorded(ready.ref, ready.step.itemStep))
      self[progress: ready.ref]?.intent = .recorded
      hostQueues[hostQueue].intending.append((sequence, ready))
    } else {
      start(ready, on: hostQueue)
    }
  }

  private mutating func start(_ ready: Ready, on hostQueue: Int) {
    let ref = ready.ref
    let deadline = self.deadline(of: ref)
    if now >= deadline { return runOut(ref) }
    // Only transfers are checked: a commit whose response was lost may have been executed, and only the
    // server knows whether its ID has expired.
    if ready.step == .transfer, let progress = self[progress: ref], progress.hasUploadID,
      let expires = progress.expires, expires <= now
    {
      metrics.idsExpired += 1
      releaseUploadID(ref, .expired)
      allocateAnew(ref, .init(code: .uploadIDExpired, message: "the upload ID expired before its transfer"))
      return
    }
    guard isTokenReady(for: ready), isCovered(ready) else { return }
    let token = step(ref.node, ready.step).token
    attemptCount += 1
    let attempt = Attempt(
      id: attemptCount, ref: ref, step: ready.step,
      tokenGeneration: token.flatMap { tokens[$0.index]?.generation } ?? 0, deadline: deadline,
      byteLimit: byteLimit(of: ready), isUnconditional: self[progress: ref]?.isUnconditional ?? false)
    if ready.step == .transfer { leaveAhead(ref) }
    let startedAt = self[progress: ref]?.startedAt ?? now
    self[progress: ref]?.startedAt = startedAt
    hostQueues[hostQueue].inFlight += 1
    flights[attempt.id] = Flight(attempt: attempt, hostQueue: hostQueue, startedAt: now, interruption: nil)
    actions.append(.start(attempt))
  }

  /// Records that the item no longer holds an unused upload ID: a transfer uses it now, or the item no longer
  /// has one.
  mutating func leaveAhead(_ ref: ItemRef) {
    guard let upload = uploadIndex[ref.node.index], let item = ref.item,
      uploads[upload].active[item]?.isAhead == true
    else { return }
    uploads[upload].active[item]?.isAhead = false
    uploads[upload].ahead -= 1
  }

  /// Removes the item's upload ID and returns the item to its allocation.
  ///
  /// - Parameter reason: why the ID becomes an orphan, if the server may still have it; `nil` if the server
  ///   no longer knows it.
  mutating func releaseUploadID(_ ref: ItemRef, _ reason: OrphanReason?) {
    if let reason { orphanUploadID(of: ref, reason) }
    entries.append(.uploadIDDiscarded(ref))
    self[progress: ref]?.intent = .none
    self[progress: ref]?.hasUploadID = false
    self[progress: ref]?.mayCount = false
    self[progress: ref]?.expires = nil
    self[progress: ref]?.hostQueues = [:]
    self[progress: ref]?.step = .allocate
    guard let upload = uploadIndex[ref.node.index], let item = ref.item else { return }
    if uploads[upload].active[item]?.isSent == true {
      uploads[upload].active[item]?.isSent = false
      uploads[upload].batchSending += 1
      uploads[upload].isHandled = false
    }
    guard uploads[upload].active[item]?.isAhead == false else { return }
    uploads[upload].active[item]?.isAhead = true
    uploads[upload].ahead += 1
  }
}
