import FerryManifest

/// What an attempt's end means for its step: the one place that judges answers.
package enum Verdict: Hashable, Sendable {
  case succeeded
  /// A fetch's 304: nothing new.
  case unchanged
  /// The token was refused.
  case unauthorized(RecordedFailure)
  /// The server does not know the upload ID any more.
  case uploadIDGone(RecordedFailure)
  /// It may go better later.
  case transient(RecordedFailure, retryAfter: Duration?, scope: Scope, reachedServer: Bool)
  case permanent(RecordedFailure)
  /// The server may have acted, and the step is not sent again blindly.
  case answerLost(RecordedFailure)
  /// The probe's answer: the commit was not carried out.
  case notCommitted(RecordedFailure)
  /// The source is not what was listed.
  case integrity(RecordedFailure)
  case cancelled(reachedServer: Bool)
  /// A hard budget had no more bytes for it.
  case limited(RecordedFailure)

  /// Whom a transient failure concerns.
  package enum Scope: Hashable, Sendable {
    case item
    /// Every request to that host waits; only one asks whether it is back.
    case host
  }
}

extension Step {
  /// Judges how an attempt at this step ended.
  ///
  /// - Parameters:
  ///   - refreshStatuses: the statuses on which the step's token is refreshed.
  ///   - hasUploadID: whether the step works on an allocated upload ID.
  package func judge(
    _ answer: AttemptResult.Answer, refreshStatuses: [Int], hasUploadID: Bool
  ) -> Verdict {
    switch answer {
    case .response(let response):
      judge(response, refreshStatuses: refreshStatuses, hasUploadID: hasUploadID)
    case .failure(let failure): judge(failure)
    }
  }

  private func judge(
    _ response: AttemptResult.Response, refreshStatuses: [Int], hasUploadID: Bool
  ) -> Verdict {
    let status = response.status
    if kind == .probe { return judgeProbe(response, refreshStatuses: refreshStatuses) }
    if alreadyDone.contains(status) { return .succeeded }
    // An ID that the server does not know needs no release.
    if kind == .abandon, status == 404 || status == 410 { return .succeeded }
    if kind == .fetch, status == 304 { return .unchanged }
    if isExpected(status) {
      if let mismatch = response.mismatch {
        return .permanent(.init(code: "unexpected_answer", status: status, message: mismatch))
      }
      if let missing = response.missing {
        return .permanent(.init(code: missing.code.rawValue, status: status, message: missing.message))
      }
      return .succeeded
    }
    let failure = RecordedFailure(
      code: "http_status", status: status, message: "the server answered \(status) to \(request.method)")
    if token != nil, refreshStatuses.contains(status) {
      return .unauthorized(
        .init(code: "unauthorized", status: status, message: "the server refused the token with \(status)"))
    }
    switch status {
    case 404, 410:
      return hasUploadID && kind != .allocate ? .uploadIDGone(failure) : .permanent(failure)
    case 429:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, reachedServer: true)
    case 502 where !isRepeatedBlindly, 504 where !isRepeatedBlindly:
      // A gateway that got no answer does not know whether the server acted (RFC 9110 §15.6.3, §15.6.5).
      return .answerLost(failure)
    case 503 where response.retryAfter != nil:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, reachedServer: true)
    case 408, 425, 500...599:
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, reachedServer: true)
    default:
      return .permanent(failure)
    }
  }

  private func isExpected(_ status: Int) -> Bool {
    expect.status.isEmpty ? (200...299).contains(status) : expect.status.contains(status)
  }

  /// What is expected says yes; what may be other later, or only refuses who asks, says nothing.
  private func judgeProbe(_ response: AttemptResult.Response, refreshStatuses: [Int]) -> Verdict {
    let status = response.status
    let failure = RecordedFailure(
      code: "http_status", status: status, message: "the server answered \(status) to \(request.method)")
    if isExpected(status) {
      guard let mismatch = response.mismatch else { return .succeeded }
      return .notCommitted(.init(code: "unexpected_answer", status: status, message: mismatch))
    }
    if token != nil, refreshStatuses.contains(status) {
      return .unauthorized(
        .init(code: "unauthorized", status: status, message: "the server refused the token with \(status)"))
    }
    switch status {
    case 401, 403, 407: return .permanent(failure)
    case 429:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, reachedServer: true)
    case 503 where response.retryAfter != nil:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, reachedServer: true)
    case 408, 425, 500...599:
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, reachedServer: true)
    default: return .notCommitted(failure)
    }
  }

  /// Whether nothing is asked before it is sent again.
  private var isRepeatedBlindly: Bool {
    switch repeatability {
    case .repeatable, .startsOver: true
    case .afterProbe, .once: false
    }
  }

  private func judge(_ failure: TransportFailure) -> Verdict {
    let recorded = RecordedFailure(code: failure.code.rawValue, message: failure.message)
    switch failure.code {
    case .nameResolution, .connect, .handshake:
      return .transient(recorded, retryAfter: nil, scope: .host, reachedServer: false)
    case .connectionLost, .requestTimeout, .malformedAnswer:
      if !isRepeatedBlindly, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .transient(
        recorded, retryAfter: nil, scope: .item, reachedServer: failure.mayHaveReachedServer)
    case .resourceTimeout, .answerTooLarge, .redirect, .capture:
      if !isRepeatedBlindly, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .permanent(recorded)
    case .certificate, .request, .destination, .sourceMissing, .sourceUnreadable:
      return .permanent(recorded)
    case .byteLimit:
      return .limited(.init(code: "budget", message: "the budget has no more bytes for it"))
    case .sourceChanged:
      return .integrity(recorded)
    case .cancelled:
      if repeatability == .once, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .cancelled(reachedServer: failure.mayHaveReachedServer)
    }
  }
}

extension Verdict {
  /// What went wrong, if anything did.
  package var failure: RecordedFailure? {
    switch self {
    case .succeeded, .unchanged, .cancelled: nil
    case .limited(let failure): failure
    case .unauthorized(let failure), .uploadIDGone(let failure), .transient(let failure, _, _, _),
      .permanent(let failure), .answerLost(let failure), .notCommitted(let failure),
      .integrity(let failure):
      failure
    }
  }
}
