import FerryManifest

/// `timeout_for_resource` limits the total time of an item, token, fetch, request or release, including
/// retries.
///
/// The time of an item is counted from the time at which it was queued, across all launches. Tokens, fetches,
/// requests and releases have no journal row before they end; their time is counted from their first attempt
/// in the launch. A node that fails in each launch would keep the round open: the time from its first failure in
/// the round is limited too.
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
  mutating func hasFailedTooLong(_ node: NodeID) -> Bool {
    // If the first failure is in the future, the clock was set back.
    guard let since = nodes[node.index].failingSince, since <= now else {
      nodes[node.index].failingSince = now
      entries.append(.nodeFailing(node, since: now))
      return false
    }
    return now >= since.advanced(by: plan.sessions[session(of: node).index].timeoutForResource)
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
