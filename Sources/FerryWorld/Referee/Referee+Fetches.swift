import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for a fetch whose last attempt failed.
extension Referee {
  /// The violation if the first request of a fetch in a launch was sent before the minimum of its interval had passed
  /// since the failure; otherwise `nil`.
  func tooEarly(_ call: Call) -> String? {
    guard call.step == .fetch, requests[call.attempt.ref] == 1,
      let due = failedFetchIsDue(call.attempt.ref.node)
    else { return nil }
    return now < due ? "was sent \(now.duration(to: due)) before its minimum had passed since it failed" : nil
  }

  /// Whether a node that needs a failed fetch treats the failure as a success.
  func takesFailedFetchForSuccess(_ ref: ItemRef, _ when: SingleRequest.When) -> Bool {
    plan.nodes[ref.node.index].needs.contains { need in
      guard let failed = failedFetches[need.index], requests[ItemRef(need)] == nil,
        let due = failedFetchIsDue(need), startedAt < due
      else { return false }
      return failed.isOpen || when == .succeeded
    }
  }

  /// The time from which the fetch may be sent again; `nil` if it has not failed, or may be sent at any time.
  private func failedFetchIsDue(_ node: NodeID) -> Instant? {
    // If the failure is in the future, the clock was set back.
    guard let failed = failedFetches[node.index], failed.at <= startedAt,
      case .fetch(let work) = plan.nodes[node.index].work
    else { return nil }
    switch work.interval {
    case .everyRun, .never: return nil
    case .minimum(let minimum), .adaptive(let minimum, _): return failed.at.advanced(by: minimum)
    }
  }
}
