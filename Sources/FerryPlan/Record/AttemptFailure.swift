/// A failed attempt.
package struct AttemptFailure: Hashable, Sendable {
  package var step: Step.Kind
  package var code: FailureCode
  package var status: Int?
  package var message: String
  package var endedAt: Instant
  package var duration: Duration
  package var detail: FailureDetail?
}
