import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for a fetch whose last attempt failed.
extension Referee {
  /// Checks that the first request of a fetch in a launch is not sent before the minimum of its interval has passed
  /// since the failure.
  func tooEarly(_ call: Call) -> String? {
    guard call.step == .fetch, requests[call.attempt.ref] == 1,
      let due = failedFetchIsDue(call.attempt.ref.node)
    else { return nil }
    return now < due ? "was sent \(now.duration(to: due)) before its minimum had passed since it failed" : nil
  }

  /// Checks that a node which needs such a fetch does not take it for a success.
  func takesFailedFetchForSuccess(_ ref: ItemRef, _ when: SingleRequest.When) -> Bool {
    plan.nodes[ref.node.index].needs.contains { need in
      guard let failed = failedFetches[need.index], requests[ItemRef(need)] == nil,
        let due = failedFetchIsDue(need), startedAt < due
      else { return false }
      return failed.isOpen || when == .succeeded
    }
  }

  /// The time at which the fetch may be sent again; `nil` if it has not failed, or at any time.
  private func failedFetchIsDue(_ node: NodeID) -> Instant? {
    // If it failed in the future, the clock was set back.
    guard let failed = failedFetches[node.index], failed.at <= startedAt,
      case .fetch(let work) = plan.nodes[node.index].work
    else { return nil }
    switch work.interval {
    case .everyRun, .never: return nil
    case .minimum(let minimum), .adaptive(let minimum, _): return failed.at.advanced(by: minimum)
    }
  }
}
