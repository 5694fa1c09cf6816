extension Scheduler {
  /// The requests in progress that have taken longest, at most `limit`.
  ///
  /// - Parameter traffic: returns the bytes of a request so far.
  package func activeRequests(
    limit: Int, at now: Instant, traffic: (UInt64) -> Traffic
  ) -> [ActiveRequest] {
    let longest = flights.values.sorted { ($0.startedAt, $0.attempt.id) < ($1.startedAt, $1.attempt.id) }
    return longest.prefix(limit).map { flight in
      let (ref, attempt) = (flight.attempt.ref, flight.attempt)
      let size = ref.item.flatMap { item in withItems(of: ref.node) { $0.files.sizes[item] } }
      let moved = traffic(attempt.id)
      var bytes = moved.bodySent +| moved.bodyReceived
      if let size, attempt.step == .transfer {
        // After a redirect, the body is sent again.
        bytes = min(size, (attempt.operation.range?.lowerBound ?? 0) +| moved.bodySent)
      } else if attempt.step == .download {
        bytes = (self[attempts: ref]?.usefulBytes ?? 0) +| moved.bodyReceived
      }
      return ActiveRequest(
        node: plan.title(of: ref.node), path: path(of: ref).map(Array.init), step: attempt.step, size: size,
        bytes: bytes, seconds: max(0, (flight.startedAt.duration(to: now).seconds * 10).rounded() / 10))
    }
  }

  /// The number of items and single requests that have failed, or may have been executed, in this round so far.
  package var failedCount: Int { plan.manifests.indices.reduce(0) { $0 + failedCount(of: ManifestID($1)) } }

  /// What the run waits for, if no request is in progress.
  package var pause: NodeActivity? {
    guard flights.isEmpty else { return nil }
    return activities.lazy.compactMap(\.self).first
  }
}
