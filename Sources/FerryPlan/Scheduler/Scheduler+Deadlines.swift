import FerryManifest

/// `timeout_for_resource` limits the total time of an item, token, fetch, request or release, including
/// retries.
///
/// The time of an item is counted from the time at which it was queued, across all launches. Tokens, fetches,
/// requests and releases have no journal row before they end; their time is counted from their first attempt
/// in the launch. A node that fails in each launch would keep the round open, also if new items arrive, each of which has
/// its own time. The time from the node's first failure in the round is therefore limited too.
extension Scheduler {
  func deadline(of ref: ItemRef) -> Instant {
    let timeout = plan.sessions[session(of: ref.node).index].timeoutForResource
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      return (self[attempts: ref]?.startedAt ?? now).advanced(by: timeout)
    }
    return Instant(nanoseconds: uploads[upload].items.handedOver[item]).advanced(by: timeout)
  }

  /// The time of a retry, or the deadline if it is earlier: a wait beyond the deadline could only end in a
  /// failure.
  func bounded(_ moment: Instant, of ref: ItemRef) -> Instant {
    min(moment, deadline(of: ref))
  }

  /// Ends an item, node or orphan whose time has expired before its next attempt.
  mutating func runOut(_ ref: ItemRef) {
    let failure = RecordedFailure(
      code: .init(TransportFailure.Code.resourceTimeout), message: "timeout_for_resource has elapsed")
    if plan.nodes[ref.node.index].kind == .token || ref.orphan != nil {
      // Treated as a missing response: items that wait for the token, and other releases, remain for a later
      // launch.
      leave(ref, failure)
    } else {
      end(ref, .failed, failure)
    }
  }

  /// Whether the time has passed for which the round waits for a node that fails temporarily. The first failure in the
  /// round is recorded.
  ///
  /// If the first failure is one of this launch, the next launch tries again, however long this one takes.
  mutating func hasFailedTooLong(_ node: NodeID) -> Bool {
    nodes[node.index].hasFailed = true
    // If the first failure is in the future, the clock was set back.
    guard let since = nodes[node.index].failingSince, since <= now else {
      nodes[node.index].failingSince = now
      entries.append(.nodeFailing(node, since: now))
      return false
    }
    return since < startedAt
      && now >= since.advanced(by: plan.sessions[session(of: node).index].timeoutForResource)
  }

  func isEphemeral(_ node: NodeID) -> Bool { plan.sessions[session(of: node).index].kind == .ephemeral }

  /// Ends the items that have not begun because a token or their host has failed, if their node has failed for too long.
  /// Otherwise, new items would keep the round open. Returns whether there were any.
  mutating func endUnbegun() -> Bool {
    if let limit = options.limit, begunCount >= limit { return false }
    var hasEnded = false
    for upload in uploads.indices where uploads[upload].tally.open > 0 && !uploads[upload].list.hasMore {
      let node = uploads[upload].node
      guard case .open = nodes[node.index].phase, let failure = failureOfSteps(node), failure.isTemporary,
        reasonForWaiting(node.index) == failure, hasFailedTooLong(node)
      else { continue }
      var (failing, others) = ([Int](), [Int]())
      for item in Array(uploads[upload].pending.items) + Array(handOverRest(of: upload)) {
        if mayFail(ItemRef(node, item)) { failing.append(item) } else { others.append(item) }
      }
      uploads[upload].pending = PendingItems(others)
      for item in failing { end(ItemRef(node, item), .failed, failure) }
      if !failing.isEmpty { hasEnded = true }
    }
    if hasEnded { actions.append(.sync) }
    return hasEnded
  }

  /// Records, at the end of a launch, that nodes with items no longer fail: the launch has completed items, and none remains
  /// after a temporary failure.
  mutating func endFailurePeriods() {
    for upload in uploads.indices {
      let node = uploads[upload].node
      guard nodes[node.index].failingSince != nil, !nodes[node.index].hasFailed, !isEphemeral(node),
        metrics.itemsDone(of: node) > 0
      else { continue }
      nodes[node.index].failingSince = nil
      entries.append(.nodeFailing(node, since: nil))
    }
  }
}

extension AttemptResult.Answer {
  /// Whether the attempt ended because its time had expired.
  var hasRunOut: Bool {
    switch self {
    case .response: false
    case .failure(let failure): failure.code == .resourceTimeout
    }
  }
}
