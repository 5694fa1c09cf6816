import FerryManifest

/// The meaning of an attempt's result for its step. `Step.judge` determines it, and `Scheduler+Results` acts
/// on it.
package enum Verdict: Hashable, Sendable {
  case succeeded
  /// The server has stated which part of the file it has.
  case partial
  /// No new content: a 304 response to a fetch, or a listed status without a document.
  case unchanged
  /// A request with a validator, or for the rest of a document, was refused, perhaps because of the validator
  /// or the range. A request for the whole document without a validator may succeed.
  case conditionRefused(RecordedFailure)
  /// The token was rejected.
  case unauthorized(RecordedFailure)
  /// The upload ID no longer exists on the server.
  case uploadIDGone(RecordedFailure)
  /// The server refuses the upload ID, which has expired or must be renewed for another reason. The ID may still exist.
  case uploadIDRefused(RecordedFailure)
  /// The request was not sent: it would have gone to a server other than the one that has the upload ID or the file.
  case otherServer(RecordedFailure)
  /// The step may succeed later. `retryAfter` is the wait that the server requested; `RetryPolicy` limits it to `max`.
  case transient(RecordedFailure, retryAfter: Duration?, scope: Scope, effect: Effect)
  case permanent(RecordedFailure)
  /// The server may have executed the request, and the step must not be sent again without a check.
  case answerLost(RecordedFailure)
  /// The probe found that the commit was not executed.
  case notCommitted(RecordedFailure)
  /// The source differs from the listed file.
  case integrity(RecordedFailure)
  case cancelled(reachedServer: Bool)
  /// The remaining hard budget was too small.
  case limited(RecordedFailure)

  /// The effect on the server of an attempt that may succeed later. Only after `notSent` is the server's part of a file
  /// known to be unchanged.
  package enum Effect: Hashable, Sendable {
    /// The request did not reach the server.
    case notSent
    /// The server reports that it did not execute the request.
    case refused
    /// The server may have executed the request.
    case unknown
  }

  /// The scope of a transient failure.
  package enum Scope: Hashable, Sendable {
    case item
    /// The response came too early to be conclusive. The request is sent again after the wait, which does not count as a
    /// retry.
    case early
    /// All requests to the host wait; then, a single request tests whether the host has recovered.
    case host
  }
}

extension Verdict {
  /// The failure, if there was one.
  package var failure: RecordedFailure? {
    switch self {
    case .succeeded, .partial, .unchanged, .cancelled: nil
    case .limited(let failure): failure
    case .conditionRefused(let failure), .unauthorized(let failure), .uploadIDGone(let failure),
      .uploadIDRefused(let failure),
      .otherServer(let failure), .transient(let failure, _, _, _),
      .permanent(let failure), .answerLost(let failure), .notCommitted(let failure),
      .integrity(let failure):
      failure
    }
  }
}

extension Verdict {
  /// The verdict, with the details of the request in its failure.
  package func with(_ detail: FailureDetail?) -> Verdict {
    switch self {
    case .succeeded, .partial, .unchanged, .cancelled: self
    case .conditionRefused(let failure): .conditionRefused(failure.with(detail))
    case .unauthorized(let failure): .unauthorized(failure.with(detail))
    case .uploadIDGone(let failure): .uploadIDGone(failure.with(detail))
    case .uploadIDRefused(let failure): .uploadIDRefused(failure.with(detail))
    // The request was not sent, so there is no detail.
    case .otherServer: self
    case .transient(let failure, let retryAfter, let scope, let effect):
      .transient(failure.with(detail), retryAfter: retryAfter, scope: scope, effect: effect)
    case .permanent(let failure): .permanent(failure.with(detail))
    case .answerLost(let failure): .answerLost(failure.with(detail))
    case .notCommitted(let failure): .notCommitted(failure.with(detail))
    case .integrity(let failure): .integrity(failure.with(detail))
    case .limited(let failure): .limited(failure.with(detail))
    }
  }
}
