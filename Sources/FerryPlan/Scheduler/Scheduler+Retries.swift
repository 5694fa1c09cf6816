import FerryManifest

/// Decides whether and when a step is sent again. `Step.judge` interprets the response, and
/// `Scheduler+Pauses` determines how long a host is paused.
extension Scheduler {
  /// Schedules a retry, or leaves the work for a later launch if the retries are used up.
  ///
  /// - Parameter firstAtOnce: whether the first retry is sent without a wait. It counts like any other.
  mutating func retry(
    _ flight: Flight, _ failure: RecordedFailure, retryAfter: Duration?,
    scope: Verdict.Scope, as kind: Step.Kind? = nil, firstAtOnce: Bool = false
  ) {
    let ref = flight.attempt.ref
    let kind = kind ?? flight.attempt.step
    if stop != nil {
      return leave(ref, stopReason)
    }
    if scope == .early {
      change(ref, .wait)
      let moment = bounded(now.advanced(by: retryAfter ?? .zero), of: ref)
      timers.insert(Timer(at: moment, ready: ready(ref, kind)))
      return
    }
    let policy = plan.nodes[ref.node.index].retry
    var retries = self[attempts: ref]?.retries ?? 0
    // A response counts for its item. An unreachable host is counted once for all requests that wait for it.
    if scope == .item || failure.status != nil { retries += 1 }
    self[attempts: ref]?.retries = retries
    guard retries <= policy.limit else {
      leave(ref, failure)
      // The host has not recovered during all retries of one request.
      if scope == .host, hostQueues[flight.hostQueue].failures >= policy.limit {
        giveUp(flight.hostQueue, failure, of: ref)
      }
      return
    }
    if scope == .host {
      enqueue(readyFirst(ref, kind, retries: retries))
      pause(flight.hostQueue, after: flight, failure, retryAfter: retryAfter)
    } else if firstAtOnce, retries == 1 {
      enqueue(ref, kind)
    } else {
      enqueue(ref, kind, beforeRetry: retries, retryAfter: retryAfter)
    }
  }

  /// Handles an upload ID that expired unused. The first new ID is requested immediately, later ones after a
  /// wait, because a server may keep issuing IDs that expire immediately.
  mutating func allocateAnew(_ ref: ItemRef, _ failure: RecordedFailure) {
    let retries = (self[attempts: ref]?.retries ?? 0) + 1
    self[attempts: ref]?.retries = retries
    let first = firstStep(of: ref)
    if retries == 1 {
      enqueue(ref, first)
    } else if retries <= plan.nodes[ref.node.index].retry.limit {
      enqueue(ref, first, beforeRetry: retries, retryAfter: nil)
    } else {
      leave(ref, failure)
    }
  }

  /// Schedules the step for the end of its wait.
  private mutating func enqueue(
    _ ref: ItemRef, _ kind: Step.Kind, beforeRetry number: Int, retryAfter: Duration?
  ) {
    let policy = plan.nodes[ref.node.index].retry
    let wait = policy.wait(beforeRetry: number, retryAfter: retryAfter, random: random.fraction())
    change(ref, .wait)
    let moment = bounded(now.advanced(by: wait), of: ref)
    timers.insert(Timer(at: moment, ready: ready(ref, kind)))
  }
}
