import FerryManifest

/// `timeout_for_resource`: no item, token, fetch, request or release takes longer, retries included.
///
/// The time of an item counts from when it was queued, through every launch. The others have no row in the journal
/// before they end; their time counts from the first attempt in the launch.
extension Scheduler {
  func deadline(of place: Place) -> Instant {
    let timeout = plan.sessions[session(of: place.node).index].timeoutForResource
    guard let item = place.item, let upload = uploadIndex[place.node.index] else {
      return (self[progress: place]?.startedAt ?? now).advanced(by: timeout)
    }
    return Instant(nanoseconds: uploads[upload].items.handedOver[item]).advanced(by: timeout)
  }

  /// The moment of a retry, or the deadline if that is earlier: a wait beyond it could only end in a failure.
  func bounded(_ moment: Instant, of place: Place) -> Instant {
    min(moment, deadline(of: place))
  }

  /// Ends a place whose time has passed before its next attempt.
  mutating func runOut(_ place: Place) {
    let failure = RecordedFailure(
      code: TransportFailure.Code.resourceTimeout.rawValue, message: "timeout_for_resource has passed")
    if plan.nodes[place.node.index].kind == .token || place.orphan != nil {
      // As where the server stays away: items that wait for the token, and other releases, are left for a later launch.
      leave(place, failure)
    } else {
      end(place, .failed, failure)
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
