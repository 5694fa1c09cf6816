import FerryManifest

/// The document that a fetch stored earlier, if `save_to` is still the file that it stored.
package struct StoredDocument: Sendable {
  /// The time until which the server allows the document to be used without a request; `nil` if the server has not
  /// stated one.
  package var freshUntil: Instant?

  package init(freshUntil: Instant? = nil) { self.freshUntil = freshUntil }
}

extension FetchWork {
  /// For a fetch that has not ended in this round: its state at the start of a launch.
  ///
  /// | `cache_policy` | a document is stored | no document is stored |
  /// |---|---|---|
  /// | `use_protocol_cache_policy` | due when its interval has passed and the document is no longer fresh | due when its interval has passed |
  /// | `reload_ignoring_local_cache` | due when its interval has passed | due when its interval has passed |
  /// | `return_cache_data_else_load` | not sent, succeeded | due when its interval has passed |
  /// | `return_cache_data_dont_load` | not sent, succeeded | not sent, failed |
  ///
  /// - Parameters:
  ///   - last: the time at which the last successful fetch ended.
  ///   - kept: the interval kept from that fetch.
  ///   - failed: the last attempt, if it failed.
  package func start(
    _ document: StoredDocument?, last: Instant?, kept: Duration?, failed: FailedFetch?, at now: Instant
  ) -> NodeStart {
    let start = interval.start(last: last, kept: kept, failed: failed, at: now)
    if case .switchedOff = start { return start }
    switch cachePolicy {
    case .reloadIgnoringLocal: return start
    case .returnElseLoad: return document == nil ? start : .stored
    case .returnDoNotLoad: return document == nil ? .notStored : .stored
    case .useProtocol: break
    }
    // If the last fetch is in the future, the clock was set back. After a failure, the document is validated.
    // A URL with references may now be the URL of another document.
    let isConstant = ([step.request.url] + step.request.query.map(\.value)).allSatisfy { $0.constant != nil }
    // The document may have been compared with another digest than the present one.
    let hasDigest = step.request.checksum?.templates.isEmpty == false
    guard failed == nil, isConstant, !hasDigest, let last, last <= now, let fresh = document?.freshUntil,
      now < fresh
    else {
      return start
    }
    if case .notDue(let until, nil) = start { return .notDue(until: max(until, fresh)) }
    return .notDue(until: fresh)
  }
}

extension RecordedFailure {
  /// The reason why a fetch was not sent, although it counts as succeeded.
  static let stored = RecordedFailure(
    code: .stored, message: "the stored file is used ('cache_policy')")
  /// The reason why a fetch failed without a request.
  package static let notStored = RecordedFailure(
    code: .notStored,
    message: "no document is stored, and 'cache_policy: return_cache_data_dont_load' does not allow a request"
  )
}
