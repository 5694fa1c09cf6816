import FerryManifest

/// The end of an item or a single request, in this round or in this launch.
extension Scheduler {
  /// Ends the item, or the single request, in this round.
  mutating func end(_ ref: ItemRef, _ state: ItemState, _ failure: RecordedFailure?) {
    releaseReservation(ref)
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      takeAttempts(of: ref.node)
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
    let end = outcome(of: ref, item, upload, state, failure)
    note(item, of: upload, end.state, end.failure)
    if end.failure?.code == .commitFailed, progress(of: ref)?.intent == ItemProgress.Intent.none {
      // The user decides about the commit, not about the transfer.
      change(ref, .recordIntent(.commit))
    }
    change(ref, .close(end.state, end.failure))
    if end.state == .done { metrics.countItem(of: ref.node) }
    closeIfThrough(upload)
  }

  /// The actual final state of an item: ambiguous instead of failed or canceled if the file may have been delivered, and
  /// instead of failed if a transfer that must not be repeated has sent it, because the next round would send it again.
  private func outcome(
    of ref: ItemRef, _ item: Int, _ upload: Int, _ state: ItemState, _ failure: RecordedFailure?
  ) -> (state: ItemState, failure: RecordedFailure?) {
    let end = uploads[upload].lifecycle(of: item).end(as: state, failure)
    if end.state == .failed, hasTransferredOnce(item, of: upload) {
      let message = failure?.message ?? "the commit failed"
      return (
        .ambiguous,
        .init(code: .commitFailed, status: failure?.status, message: message, detail: failure?.detail)
      )
    }
    guard [.failed, .cancelled].contains(end.state), mightDeliverTwice(ref) else { return end }
    let reason = failure.map { ": \($0.message)" } ?? ""
    return (
      .ambiguous,
      .init(
        code: .responseLost, status: failure?.status, message: "transfer may have been executed\(reason)",
        detail: failure?.detail)
    )
  }

  /// Whether work of a node that has failed for too long may end as failed. An item that would become ambiguous remains,
  /// because a later launch may learn its outcome or send its commit. An ephemeral session does not remember it.
  func mayFail(_ ref: ItemRef) -> Bool {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index], !isEphemeral(ref.node) else {
      return true
    }
    return outcome(of: ref, item, upload, .failed, nil).state == .failed
  }

  /// Leaves the item, node or orphan for a later launch.
  mutating func leave(_ ref: ItemRef, _ failure: RecordedFailure) {
    if plan.nodes[ref.node.index].kind == .token { return fail(token: ref.node, failure) }
    if ref.orphan != nil { return leaveRelease(ref, failure) }
    // An optional request ends as failed here: the nodes that need it, and the round, do not wait for a later launch.
    if plan.isOptional(ref.node), failure.isTemporary { return end(ref, .failed, failure) }
    if failure.isTemporary, hasFailedTooLong(ref.node), mayFail(ref) { return end(ref, .failed, failure) }
    releaseReservation(ref)
    note(failure, of: ref.node)
    // If a token failed while only releases were waiting for it, its failure has not affected the exit code yet.
    noteCode(of: failure, of: ref.node)
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      withdrawIntent(ref)
      recordFailure(ofFetch: ref.node.index, failure)
      nodes[ref.node.index].phase = .left(failure)
      takeAttempts(of: ref.node)
      return
    }
    note(item, of: upload, .queued, failure)
    change(ref, .leave)
    closeIfThrough(upload)
  }

  /// Records that the attempts of a fetch in this launch failed, although the fetch remains open: the minimum of its
  /// interval is counted from now on.
  mutating func recordFailure(ofFetch index: Int, _ failure: RecordedFailure) {
    guard nodes[index].interval != nil, failure.isTemporary,
      nodes[index].attempts?.failures.isEmpty == false
    else { return }
    entries.append(.fetchFailed(NodeID(index), failure, at: now))
  }

  private mutating func takeAttempts(of node: NodeID) {
    let failures = nodes[node.index].attempts?.failures ?? []
    metrics.nodeFailures[node] = failures.isEmpty ? nil : failures
    nodes[node.index].attempts = nil
  }

  /// Records an item that did not succeed at the first attempt, for the report.
  private mutating func note(_ item: Int, of upload: Int, _ state: ItemState, _ failure: RecordedFailure?) {
    let ref = ItemRef(uploads[upload].node, item)
    let attemptFailures = self[attempts: ref]?.failures ?? []
    let isReported = state != .done || !attemptFailures.isEmpty
    guard isReported || reportsEveryItem(of: ref.node) else { return }
    let requests = self[attempts: ref]?.requests ?? 0
    let span = uploads[upload].active.begunAt(of: item).map {
      ItemSpan(begunAt: $0, endedAt: now, requests: requests)
    }
    guard isReported else {
      if let span { uploads[upload].spans[item] = span }
      return
    }
    // Canceled items that no launch has begun are only counted.
    guard state != .cancelled || span != nil || uploads[upload].items.begun[item] != nil else { return }
    metrics.notes.append(
      ItemNote(ref: ref, state: state, failure: failure, attemptFailures: attemptFailures, span: span))
  }
}
