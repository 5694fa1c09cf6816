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
    if let hostQueue = self[attempts: ready.ref]?.hostQueues[ready.step] { return hostQueue }
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

  /// Whether an intent must be on disk first. This applies to every unrepeatable step and every commit: the
  /// next launch has to know that it may have been executed.
  func needsIntent(_ ready: Ready) -> Bool {
    (ready.step == .commit || step(ready.ref.node, ready.step).repeatability == .once)
      && intent(of: ready.ref) != .recorded
  }

  /// Whether this is a commit without an intent that can be sent again. It uses no connection while its
  /// intent is written.
  private func isCommitToIntend(_ ready: Ready) -> Bool {
    ready.step == .commit && step(ready.ref.node, .commit).repeatability != .once && needsIntent(ready)
  }

  /// Starts a step, or makes it wait for what it needs.
  private mutating func pass(_ ready: Ready, on hostQueue: Int) {
    if ready.ref.orphan != nil, self[attempts: ready.ref] == nil {
      // Its upload ID is in use again.
      return
    }
    if ready.step == .transfer, progress(of: ready.ref)?.isTransferred == true {
      // The server has the whole file, and the manifest no longer has a commit.
      return end(ready.ref, .done, nil)
    }
    if intent(of: ready.ref) == .inherited {
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
      recordIntent(ready.ref, ready.step)
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
    if ready.step == .transfer, let expires = progress(of: ref)?.uploadID?.expires, expires <= now {
      metrics.idsExpired += 1
      discardUploadID(ref, .expired)
      allocateAnew(ref, .init(code: .uploadIDExpired, message: "the upload ID expired before its transfer"))
      return
    }
    guard isTokenReady(for: ready), isCovered(ready) else { return }
    let token = step(ref.node, ready.step).token
    attemptCount += 1
    let attempt = Attempt(
      id: attemptCount, ref: ref, step: ready.step,
      tokenGeneration: token.flatMap { tokens[$0.index]?.generation } ?? 0, deadline: deadline,
      byteLimit: byteLimit(of: ready), isUnconditional: self[attempts: ref]?.isUnconditional ?? false)
    if ready.step == .transfer { change(ref, .startTransfer) }
    let now = now
    if ref.item == nil, self[attempts: ref]?.startedAt == nil { self[attempts: ref]?.startedAt = now }
    hostQueues[hostQueue].inFlight += 1
    flights[attempt.id] = Flight(attempt: attempt, hostQueue: hostQueue, startedAt: now, interruption: nil)
    actions.append(.start(attempt))
  }

  /// Removes the item's upload ID and returns the item to its allocation.
  ///
  /// - Parameter reason: why the ID becomes an orphan, if the server may still have it; `nil` if the server
  ///   no longer knows it.
  mutating func discardUploadID(_ ref: ItemRef, _ reason: OrphanReason?) {
    guard let upload = uploadIndex[ref.node.index], let progress = progress(of: ref) else { return }
    change(ref, .discardUploadID(reason))
    self[attempts: ref]?.hostQueues = [:]
    if progress.isTransferred { uploads[upload].isHandled = false }
  }
}
