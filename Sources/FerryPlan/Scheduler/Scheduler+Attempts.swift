import FerryManifest

/// Attempts: the preconditions of a step, and the start of its request.
extension Scheduler {
  /// Starts a step, or lets it wait for its preconditions.
  mutating func pass(_ ready: Ready, on hostQueue: Int) {
    if ready.ref.orphan != nil, self[attempts: ready.ref] == nil {
      // The orphan's upload ID is in use again.
      return
    }
    if ready.step == .transfer, progress(of: ready.ref)?.isTransferred == true {
      // The server has the whole file, and the manifest no longer has a commit.
      return end(ready.ref, .done, nil)
    }
    if intent(of: ready.ref) == .inherited {
      return end(ready.ref, .ambiguous, .init(code: .responseLost, message: inheritance(of: ready)))
    }
    let right = self.hostQueue(for: ready)
    if right != hostQueue {
      enqueue(ready)
    } else if needsEntry(ready) {
      guard isTokenReady(for: ready) else { return }
      waitForEntry(ready, on: hostQueue)
    } else {
      start(ready, on: hostQueue)
    }
  }

  /// Lets a step wait until its intent, or its item's upload ID, is on disk.
  private mutating func waitForEntry(_ ready: Ready, on hostQueue: Int) {
    if needsUploadID(ready) {
      change(ready.ref, .awaitUploadID)
      if case .sync? = actions.last {} else { actions.append(.sync) }
    }
    if needsIntent(ready) { recordIntent(ready.ref, ready.step) }
    let last = entries.isEmpty ? recorded : sequence
    if last <= synced {
      insertIntended(ready, on: hostQueue)
    } else {
      hostQueues[hostQueue].intending.append((last, ready))
    }
  }

  /// The reason why the step of an item with an inherited intent is not sent.
  private func inheritance(of ready: Ready) -> String {
    if let item = ready.ref.item, let upload = uploadIndex[ready.ref.node.index],
      let conflict = uploads[upload].rules.keyConflict(resuming: uploads[upload].items.begun[item])
    {
      return conflict
    }
    return
      "an earlier launch may have sent \(ready.step.rawValue), and this launch cannot continue from there"
  }

  /// Starts an attempt. Attempts are started only here.
  mutating func start(_ ready: Ready, on hostQueue: Int) {
    let ref = ready.ref
    let deadline = self.deadline(of: ref)
    if now >= deadline { return runOut(ref) }
    if ready.step == .commit, needsProbe(ready) { return probe(before: ready) }
    // Only the upload IDs of transfers are checked: a commit with a lost response may have been executed, and
    // only the server can determine whether its ID has expired.
    if ready.step == .transfer, let expires = progress(of: ref)?.uploadID?.expires, expires <= now {
      metrics.idsExpired += 1
      if mightDeliverTwice(ref) {
        return end(
          ref, .ambiguous,
          .init(
            code: .responseLost,
            message:
              "transfer may have been executed: its upload resource expired before the response was received")
        )
      }
      discardUploadID(ref, .expired)
      allocateAnew(ref, .init(code: .uploadIDExpired, message: "the upload ID expired before its transfer"))
      return
    }
    guard isTokenReady(for: ready), isCovered(ready) else { return }
    let token = steps[ref.node, ready.step].step.token
    attemptCount += 1
    if ready.step.transfersItem { change(ref, .startTransfer) }
    if ready.step == .commit { relyOnProbe(ref) }
    let attempt = Attempt(
      id: attemptCount, ref: ref, step: ready.step, operation: operation(of: ready),
      tokenGeneration: token.flatMap { tokens[$0.index]?.generation } ?? 0, deadline: deadline,
      byteLimit: byteLimit(of: ready), bodyLimit: bodyLimit(of: ready),
      unwantedBodyLimit: unwantedBodyLimit(of: ready),
      bodyCopies: bodyCopies(of: ready),
      connections: connections(of: ready, on: hostQueue),
      isUnconditional: self[attempts: ref]?.isUnconditional ?? false)
    if let orphan = ref.orphan, let upload = uploadIndex[ref.node.index] {
      uploads[upload].releases.send(orphan)
    }
    let now = now
    if ref.item == nil, self[attempts: ref]?.startedAt == nil { self[attempts: ref]?.startedAt = now }
    hostQueues[hostQueue].inFlight += attempt.connections
    flights[attempt.id] = Flight(attempt: attempt, hostQueue: hostQueue, startedAt: now, interruption: nil)
    actions.append(.start(attempt))
    if attempt.operation != .whole { begin(attempt, on: hostQueue) }
  }

  /// The number of connections for an attempt: as many as a download can use, if so many are free.
  ///
  /// Even if the host has failed before, a single request tests whether it has recovered: a download requests further
  /// ranges only after the response to the first one.
  private func connections(of ready: Ready, on hostQueue: Int) -> Int {
    guard ready.step.storesDocument, self[attempts: ready.ref]?.isUnconditional != true,
      let document = plan.nodes[ready.ref.node.index].document, document.segments > 1
    else { return 1 }
    let free = hostQueues[hostQueue].limit - hostQueues[hostQueue].inFlight
    return max(1, min(document.connections(for: documentSize(of: ready.ref)), free))
  }

  /// Removes the item's upload ID and returns the item to its allocation; without `allocate`, to its transfer.
  ///
  /// - Parameter reason: the reason why the ID becomes an orphan, if the server may still have it; `nil` if
  ///   the ID no longer exists on the server.
  mutating func discardUploadID(_ ref: ItemRef, _ reason: OrphanReason?) {
    guard let upload = uploadIndex[ref.node.index], let progress = progress(of: ref) else { return }
    change(ref, progress.uploadID == nil ? .discardTransfer : .discardUploadID(reason))
    let useful = self[attempts: ref]?.usefulBytes ?? 0
    metrics.startsOver(useful, of: ref.node)
    // Only a transfer in progress still has a reservation. The reservation of a completely sent file has
    // already been released.
    if progress.transfer != nil, useful > 0 { sendsAgain(ref, bytes: usefulBytesOfWindow(ref)) }
    self[attempts: ref]?.usefulBytes = 0
    self[attempts: ref]?.earlierBytes = 0
    self[attempts: ref]?.unconfirmedBytes = [:]
    self[attempts: ref]?.hostQueues = [:]
    self[attempts: ref]?.commitDeniedAt = nil
    if progress.isTransferred { uploads[upload].isHandled = false }
  }
}
