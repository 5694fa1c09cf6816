extension RunRecord {
  /// What a run did for one node.
  package struct WorkRecord: Hashable, Codable, Sendable {
    /// The number of requests that ended, successfully or not.
    package var requests: Int
    /// File bytes in steps that succeeded, as in the totals.
    package var usefulBytes: Int64
    /// The number of items that the run completed; 0 for a node without items.
    package var itemsDone: Int
    /// The start of the first request, and the end of the last one.
    package var startedAt: String
    package var endedAt: String
    package var durationSeconds: Double

    package init(requests: Int, usefulBytes: Int64, itemsDone: Int, startedAt: Instant, endedAt: Instant) {
      self.requests = requests
      self.usefulBytes = usefulBytes
      self.itemsDone = itemsDone
      self.startedAt = startedAt.rfc3339
      self.endedAt = endedAt.rfc3339
      durationSeconds = Self.seconds(from: startedAt, to: endedAt)
    }

    /// Adds the work of another run or shard.
    package mutating func add(_ other: WorkRecord) {
      requests +|= other.requests
      usefulBytes +|= other.usefulBytes
      itemsDone +|= other.itemsDone
      startedAt = min(startedAt, other.startedAt)
      endedAt = max(endedAt, other.endedAt)
      // A report that another program wrote may contain invalid times.
      guard let from = Instant(rfc3339: startedAt), let to = Instant(rfc3339: endedAt) else { return }
      durationSeconds = Self.seconds(from: from, to: to)
    }

    /// The time between two instants, with a resolution of milliseconds.
    private static func seconds(from start: Instant, to end: Instant) -> Double {
      (max(0, start.duration(to: end).seconds) * 1000).rounded() / 1000
    }
  }
}
