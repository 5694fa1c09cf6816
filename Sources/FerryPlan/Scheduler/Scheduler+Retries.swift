import FerryManifest

/// Tries after the first.
extension Scheduler {
  /// Waits and tries again, or leaves it for a later launch when the retries are used up.
  mutating func retry(
    _ flight: Flight, _ failure: RecordedFailure, retryAfter: Duration?,
    scope: Verdict.Scope, as kind: Step.Kind? = nil, atOnce: Bool = false
  ) {
    let place = flight.attempt.place
    let kind = kind ?? flight.attempt.step
    if stop != nil {
      return leave(place, stopReason)
    }
    let policy = plan.nodes[place.node.index].retry
    var retries = self[progress: place]?.retries ?? 0
    // A host that cannot be reached is counted once for all who wait for it.
    if scope == .item || failure.status != nil { retries += 1 }
    self[progress: place]?.retries = retries
    self[progress: place]?.step = kind
    guard retries <= policy.limit else { return leave(place, failure) }
    if scope == .host {
      enqueue(place, kind)
      pause(flight.lane, after: flight, failure, retryAfter: retryAfter)
    } else if atOnce, retries == 1 {
      enqueue(place, kind)
    } else {
      enqueue(place, kind, beforeRetry: retries, retryAfter: retryAfter)
    }
  }

  /// Its upload ID ended unused: a new one at once, then after waits, as IDs that never last are given out too.
  mutating func allocateAnew(_ place: Place, _ failure: RecordedFailure) {
    let retries = (self[progress: place]?.retries ?? 0) + 1
    self[progress: place]?.retries = retries
    if retries == 1 {
      enqueue(place, .allocate)
    } else if retries <= plan.nodes[place.node.index].retry.limit {
      enqueue(place, .allocate, beforeRetry: retries, retryAfter: nil)
    } else {
      leave(place, failure)
    }
  }

  /// Puts the step by until its wait is over.
  private mutating func enqueue(
    _ place: Place, _ kind: Step.Kind, beforeRetry number: Int, retryAfter: Duration?
  ) {
    let policy = plan.nodes[place.node.index].retry
    let wait = policy.wait(beforeRetry: number, retryAfter: retryAfter, random: random.fraction())
    if let upload = itemsUpload(of: place) { uploads[upload].inProgress -= 1 }
    let moment = bounded(now.advanced(by: wait), of: place)
    timers.insert(Timer(at: moment, ready: ready(place, kind)))
  }
}
