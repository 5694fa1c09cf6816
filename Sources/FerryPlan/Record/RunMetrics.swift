/// What the scheduler counts as a launch goes on.
package struct RunMetrics: Sendable {
  package var requests = 0
  package var tokensFetched = 0
  package var tokenRefreshes = 0
  package var idsAllocated = 0
  package var idsExpired = 0
  /// Given out, and dropped in this launch without having been committed.
  package var idsOrphaned = 0
  /// Of those and of earlier ones: released in this launch.
  package var idsReleased = 0
  /// Moments at which something that ended in the background was handled.
  package var resumes = 0
  /// Items that ended done in this launch.
  package var itemsDone = 0
  package var traffic = Traffic()
  /// Bytes of files that a step which succeeded carried, either way.
  package var usefulBytes: Int64 = 0
  /// Bytes of files that were sent and did not count.
  package var resentBytes: Int64 = 0
  /// By manifest, what the exit code comes from besides items that failed: `authorization` and `integrity`;
  /// `temporary` where something was left because retries were used up, `cutOff` because the launch's deadline came
  /// or its execution window ended, `deferred` for other conditions, a budget or a delay.
  package var codes: [ManifestID: Set<ExitCode>] = [:]
  /// The first moment at which something of that may go on, where one is known.
  package var deferredUntil: Instant?
  package var stop: StopCause?
  /// Items that did not simply succeed.
  package var notes: [ItemNote] = []
  package var nodeFailures: [NodeID: [AttemptFailure]] = [:]

  package mutating func count(_ step: Step.Kind, _ result: AttemptResult, _ verdict: Verdict) {
    requests += 1
    traffic += result.traffic
    let isGood = verdict == .succeeded || verdict == .unchanged
    switch step {
    case .transfer:
      if isGood { usefulBytes +|= result.traffic.bodySent } else { resentBytes +|= result.traffic.bodySent }
    case .fetch: if isGood { usefulBytes +|= result.traffic.bodyReceived }
    case .token, .allocate, .commit, .probe, .request, .abandon: break
    }
  }
}

/// An item that did not simply succeed: what became of it, and what went wrong on the way.
package struct ItemNote: Sendable {
  package var ref: ItemRef
  /// `queued` where it is left for a later launch.
  package var state: ItemState
  package var failure: RecordedFailure?
  package var attemptFailures: [AttemptFailure]
}
