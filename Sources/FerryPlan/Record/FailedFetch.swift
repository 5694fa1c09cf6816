/// The last attempt of a fetch, if it failed. The interval's `minimum` is counted from the end of this
/// attempt.
package struct FailedFetch: Hashable, Sendable {
  /// The time at which the attempt ended, including its retries.
  package var at: Instant
  /// The reason; `nil` if the journal no longer contains it.
  package var failure: RecordedFailure?
  /// Whether the failure was temporary, so that the fetch has not ended in its round. Otherwise, the fetch
  /// ended as failed.
  package var isOpen: Bool

  package init(at: Instant, failure: RecordedFailure?, isOpen: Bool) {
    self.at = at
    self.failure = failure
    self.isOpen = isOpen
  }

  /// The reason why a fetch that is not due has not succeeded.
  package var reason: RecordedFailure {
    guard let failure else { return .init(code: .notDue, message: "the last attempt failed") }
    return .init(
      code: failure.code, status: failure.status, message: "the last attempt failed: \(failure.message)")
  }
}
