/// What a launch has done for one node so far.
package struct NodeWork: Sendable {
  package private(set) var requests = 0
  package internal(set) var usefulBytes: Int64 = 0
  package internal(set) var itemsDone = 0
  /// From the start of the first request to the end of the last one; `nil` before a request has ended.
  private var span: (from: Instant, to: Instant)?

  /// Counts a request that has just ended.
  mutating func count(endedAt end: Instant, duration: Duration) {
    requests += 1
    let start = min(end, end.advanced(by: .zero - duration))
    span = (min(span?.from ?? start, start), max(span?.to ?? end, end))
  }

  /// The values for the report; `nil` if there were no requests.
  package var record: RunRecord.WorkRecord? {
    span.map {
      .init(
        requests: requests, usefulBytes: max(0, usefulBytes), itemsDone: itemsDone, startedAt: $0.from,
        endedAt: $0.to)
    }
  }
}
