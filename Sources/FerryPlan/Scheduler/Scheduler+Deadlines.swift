import FerryManifest

/// `timeout_for_resource`: no item, token, fetch, request or release takes longer, retries included.
///
/// The time of an item counts from when it was queued, through every launch. The others have no row in the journal
/// before they end; their time counts from the first attempt in the launch.
extension Scheduler {
  func deadline(of ref: ItemRef) -> Instant {
    let timeout = plan.sessions[session(of: ref.node).index].timeoutForResource
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else {
      return (self[progress: ref]?.startedAt ?? now).advanced(by: timeout)
    }
    return Instant(nanoseconds: uploads[upload].items.handedOver[item]).advanced(by: timeout)
  }

  /// The moment of a retry, or the deadline if that is earlier: a wait beyond it could only end in a failure.
  func bounded(_ moment: Instant, of ref: ItemRef) -> Instant {
    min(moment, deadline(of: ref))
  }

  /// Ends a place whose time has passed before its next attempt.
  mutating func runOut(_ ref: ItemRef) {
    let failure = RecordedFailure(
      code: TransportFailure.Code.resourceTimeout.rawValue, message: "timeout_for_resource has passed")
    if plan.nodes[ref.node.index].kind == .token || ref.orphan != nil {
      // As where the server stays away: items that wait for the token, and other releases, are left for a later launch.
      leave(ref, failure)
    } else {
      end(ref, .failed, failure)
    }
  }
}

extension AttemptResult.Answer {
  /// Whether the attempt was ended because its time had passed.
  var hasRunOut: Bool {
    switch self {
    case .response: false
    case .failure(let failure): failure.code == .resourceTimeout
    }
  }
}
