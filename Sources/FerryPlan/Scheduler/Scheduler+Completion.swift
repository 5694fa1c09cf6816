import FerryManifest

/// The end of an item or a single request, in this round or in this launch.
extension Scheduler {
  /// Ends the item, or the single request, in this round.
  mutating func end(_ ref: ItemRef, _ state: ItemState, _ failure: RecordedFailure?) {
    releaseReservation(ref)
    if (state == .failed || state == .cancelled), self[progress: ref]?.isCommitUnknown == true {
      // Sending the file again might repeat what the server did at the commit.
      let reason = failure.map { ": \($0.message)" } ?? ""
      return end(
        ref, .ambiguous,
        .init(
          code: .responseLost, status: failure?.status, message: "commit may have been executed\(reason)"))
    }
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      let attemptFailures = nodes[ref.node.index].progress?.attemptFailures ?? []
      metrics.nodeFailures[ref.node] = attemptFailures.isEmpty ? nil : attemptFailures
      nodes[ref.node.index].progress = nil
      if case .fetch = plan.nodes[ref.node.index].work, state != .done {
        nodes[ref.node.index].fetchResult = .failed
      }
      let outcome: NodeOutcome =
        switch state {
        case .done: .succeeded
        case .ambiguous: .ambiguous
        case .cancelled: .skipped
        case .queued, .allocated, .transferred, .failed: .failed
        }
      return finishNode(ref.node.index, outcome, failure)
    }
    switch state {
    case .failed: orphanUploadID(of: ref, .failed)
    case .cancelled: orphanUploadID(of: ref, .cancelled)
    case .queued, .allocated, .transferred, .done, .ambiguous: break
    }
    entries.append(.itemClosed(ref, state, failure, at: now))
    remove(item, of: upload, state, failure)
    switch state {
    case .done:
      uploads[upload].counts.done += 1
      metrics.itemsDone += 1
      uploads[upload].items.phases[item] = .done
    case .ambiguous:
      uploads[upload].counts.ambiguous += 1
      uploads[upload].items.phases[item] = .ambiguous
    case .cancelled:
      uploads[upload].counts.cancelled += 1
      uploads[upload].items.phases[item] = .cancelled
    case .queued, .allocated, .transferred, .failed:
      uploads[upload].counts.failed += 1
      uploads[upload].items.phases[item] = .failed
    }
    closeIfThrough(upload)
  }

  /// Leaves the item, node or orphan for a later launch.
  mutating func leave(_ ref: ItemRef, _ failure: RecordedFailure) {
    if plan.nodes[ref.node.index].kind == .token { return fail(token: ref.node, failure) }
    if ref.orphan != nil { return leaveRelease(ref, failure) }
    if let progress = self[progress: ref], progress.intent == .recorded, !progress.isCommitUnknown {
      withdrawIntent(of: ref)
    }
    releaseReservation(ref)
    note(failure, of: ref.node)
    if !failure.isDeferral, ![.maxDuration, .expired, .stopped].contains(failure), failure.code != .token {
      note(.temporary, of: ref.node)
    }
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      nodes[ref.node.index].phase = .left(failure)
      let attemptFailures = nodes[ref.node.index].progress?.attemptFailures ?? []
      metrics.nodeFailures[ref.node] = attemptFailures.isEmpty ? nil : attemptFailures
      nodes[ref.node.index].progress = nil
      return
    }
    remove(item, of: upload, .queued, failure)
    uploads[upload].counts.waiting += 1
    uploads[upload].items.phases[item] = .left
    closeIfThrough(upload)
  }

  /// Withdraws the intent of a request that was not sent or that the server refused.
  ///
  /// If a commit may have been executed nonetheless, because the server only reported that it is temporarily unable to,
  /// or because the user asked for it to be sent again, the journal keeps that doubt: it is sent again, but its upload
  /// ID is not released.
  mutating func withdrawIntent(of ref: ItemRef) {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index], let progress = self[progress: ref],
      progress.isSent, progress.mayCount
    else { return entries.append(.intentWithdrawn(ref)) }
    let isAsked = uploads[upload].items.begun[item]?.intent == .commitAgain
    entries.append(.intentRecorded(ref, isAsked ? .commitAgain : .commitDeferred))
  }

  private mutating func remove(_ item: Int, of upload: Int, _ state: ItemState, _ failure: RecordedFailure?) {
    let ref = ItemRef(uploads[upload].node, item)
    leaveAhead(ref)
    if uploads[upload].active[item]?.isSent != true { uploads[upload].batchSending -= 1 }
    let progress = uploads[upload].active.removeValue(forKey: item)
    let attemptFailures = progress?.attemptFailures ?? []
    uploads[upload].inProgress -= 1
    uploads[upload].open -= 1
    uploads[upload].batchOpen -= 1
    guard state != .done || !attemptFailures.isEmpty else { return }
    // Items that no launch had begun are only counted.
    guard state != .cancelled || progress != nil || uploads[upload].items.begun[item] != nil else { return }
    metrics.notes.append(ItemNote(ref: ref, state: state, failure: failure, attemptFailures: attemptFailures))
  }

  subscript(progress ref: ItemRef) -> Progress? {
    get {
      if let orphan = ref.orphan {
        return uploadIndex[ref.node.index].flatMap { uploads[$0].releases.active[orphan] }
      }
      guard let item = ref.item else { return nodes[ref.node.index].progress }
      return uploadIndex[ref.node.index].flatMap { uploads[$0].active[item] }
    }
    set {
      if let orphan = ref.orphan {
        if let upload = uploadIndex[ref.node.index] { uploads[upload].releases.active[orphan] = newValue }
        return
      }
      guard let item = ref.item else {
        nodes[ref.node.index].progress = newValue
        return
      }
      if let upload = uploadIndex[ref.node.index] { uploads[upload].active[item] = newValue }
    }
  }
}
