/// The requests that a progress display shows.
package struct ActiveRequest: Sendable {
  package var title: String
  /// The path of the item; `nil` for a node with a single request.
  package var path: [UInt8]?
  package var step: Step.Kind
  /// The size of the file; `nil` for a node with a single request.
  package var size: Int64?
  package var seconds: Double
}

extension Scheduler {
  /// The requests in progress that have taken longest, at most `limit`.
  package func activeRequests(limit: Int, at now: Instant) -> [ActiveRequest] {
    flights.values.sorted { ($0.startedAt, $0.attempt.id) < ($1.startedAt, $1.attempt.id) }.prefix(limit).map
    { flight in
      let ref = flight.attempt.ref
      return ActiveRequest(
        title: plan.title(of: ref.node), path: path(of: ref).map(Array.init), step: flight.attempt.step,
        size: ref.item.flatMap { item in withItems(of: ref.node) { $0.files.sizes[item] } },
        seconds: max(0, flight.startedAt.duration(to: now).seconds))
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
