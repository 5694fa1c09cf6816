/// The number of retries of a failed request, and the waits between them.
///
/// The wait before retry `n` (from 1) is `initial × factor^(n−1)`, at most `max`, then varied by up to
/// `±jitter` of this value.
package struct RetryPolicy: Hashable, Codable, Sendable {
  /// The maximum number of retries after the first attempt, per launch. Default 5.
  package var limit: Int
  package var initial: Duration
  package var factor: Double
  package var max: Duration
  package var jitter: Double
  /// The statuses that the server sends only if it has not executed a request. Default: none.
  package var notExecuted: [Int] = []

  package init(
    limit: Int = 5, initial: Duration = .seconds(1), factor: Double = 2, max: Duration = .seconds(300),
    jitter: Double = 0.25
  ) {
    self.limit = limit
    self.initial = initial
    self.factor = factor
    self.max = max
    self.jitter = jitter
  }
}
