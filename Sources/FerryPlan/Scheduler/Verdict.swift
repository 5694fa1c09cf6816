import FerryManifest

/// What an attempt's end means for its step: the one place that judges answers.
package enum Verdict: Hashable, Sendable {
  case succeeded
  /// A fetch's 304: nothing new.
  case unchanged
  /// A fetch with a validator was refused, perhaps because of the validator: one without it may succeed.
  case conditionRefused(RecordedFailure)
  /// The token was refused.
  case unauthorized(RecordedFailure)
  /// The server does not know the upload ID any more.
  case uploadIDGone(RecordedFailure)
  /// It may go better later.
  case transient(RecordedFailure, retryAfter: Duration?, scope: Scope, effect: Effect)
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

  /// What an attempt that may go better later has done at the server.
  package enum Effect: Hashable, Sendable {
    /// It did not get there.
    case notSent
    /// The server did not carry it out, and says so.
    case refused
    /// The server may have carried it out.
    case unknown
  }

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
    if kind == .fetch, status == 304 { return judgeNotModified(response.condition) }
    if expects(status: status) {
      if let mismatch = response.mismatch {
        let failure = RecordedFailure(code: "unexpected_answer", status: status, message: mismatch)
        // The server may have acted, and its response was not judged.
        if response.isUndecided, !isRepeatedBlindly || kind == .commit { return .answerLost(failure) }
        return .permanent(failure)
      }
      if let missing = response.missing {
        let failure = RecordedFailure(code: missing.code.rawValue, status: status, message: missing.message)
        // The server carried it out, and it is never sent again.
        return repeatability == .once ? .answerLost(failure) : .permanent(failure)
      }
      return kind == .fetch && content(of: status) == .nothing ? .unchanged : .succeeded
    }
    let failure = refusal(response)
    if token != nil, refreshStatuses.contains(status), response.withheld == nil {
      return .unauthorized(
        .init(code: "unauthorized", status: status, message: "the server refused the token with \(status)"))
    }
    switch response.judgedStatus {
    case 300...399:
      // A server may act and then lead elsewhere: only a listed status says that it did, and none says that it did not.
      return endsKnowledge ? .answerLost(failure) : .permanent(failure)
    case 400, 412, 431:
      // What a server says to a validator that it cannot read, or takes for another condition.
      guard kind == .fetch, case .recorded = response.condition else { return .permanent(failure) }
      return .conditionRefused(failure)
    case 404, 410:
      return hasUploadID && kind != .allocate ? .uploadIDGone(failure) : .permanent(failure)
    case 429:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, effect: .refused)
    case 503 where response.retryAfter != nil:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, effect: .refused)
    case 408, 425, 501, 503, 505, 511:
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    case 500...599:
      // A server that failed may have acted before, and a gateway does not know (RFC 9110 §15.6.1, §15.6.3).
      guard isRepeatedBlindly else { return .answerLost(failure) }
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .unknown)
    default:
      return .permanent(failure)
    }
  }

  /// The failure that a response's status means, with what would help where more than the number is known.
  private func refusal(_ response: AttemptResult.Response) -> RecordedFailure {
    let (status, method) = (response.status, request.method)
    var message = "the server responded with \(status) to \(method)"
    switch status {
    case 301, 302, 303:
      let isKept = method == "GET" || method == "HEAD" || status != 303 && request.isIdempotent
      message +=
        isKept
        ? Self.unfollowed
        : ", and ferry does not follow this redirect: the response to another request, such as a GET of a login page, "
          + "says nothing about this one; if \(status) means success, list it in 'expect: { status: [\(status)] }'"
    case 307, 308: message += Self.unfollowed
    case 300...399:
      message +=
        ", which is not a redirect that ferry follows; if it means success, list it in 'expect: { status }'"
    case 401, 403: if let withheld = response.withheld { message += "; \(withheld)" }
    case 200...299: if kind == .fetch { message = refusal(of: status) }
    default: break
    }
    return RecordedFailure(code: "http_status", status: status, message: message)
  }

  private static let unfollowed = ", a redirect without a Location, or beyond 'redirects: { limit: 0 }'"

  /// Whether an answer of this status is what was asked for, unless its header fields or body say otherwise.
  package func expects(status: Int) -> Bool {
    if kind == .fetch { return content(of: status) != .unexpected }
    return expect.status.isEmpty ? (200...299).contains(status) : expect.status.contains(status)
  }

  /// A 304 counts only for the validator that the request carried (RFC 9110, section 15.4.5).
  private func judgeNotModified(_ condition: AttemptResult.Condition) -> Verdict {
    switch condition {
    case .recorded(isNamed: true), .written:
      return .unchanged
    case .recorded(isNamed: false):
      return .conditionRefused(
        .init(
          code: "http_status", status: 304,
          message: "the server responded 304 for a different version from the one that the request named"))
    case .absent:
      return .permanent(
        .init(
          code: "http_status", status: 304,
          message: "the server responded 304 to a request without a validator"))
    }
  }

  /// What is expected says yes; what may be other later, or only refuses who asks, says nothing.
  private func judgeProbe(_ response: AttemptResult.Response, refreshStatuses: [Int]) -> Verdict {
    let status = response.status
    let failure = refusal(response)
    if expects(status: status) {
      guard let mismatch = response.mismatch else { return .succeeded }
      let failure = RecordedFailure(code: "unexpected_answer", status: status, message: mismatch)
      guard response.isUnreadable else { return .notCommitted(failure) }
      // Another server's page, such as that of a captive portal.
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    }
    if token != nil, refreshStatuses.contains(status), response.withheld == nil {
      return .unauthorized(
        .init(code: "unauthorized", status: status, message: "the server refused the token with \(status)"))
    }
    switch response.judgedStatus {
    // A redirect that leads nowhere says neither yes nor no.
    case 300...399, 401, 403, 407: return .permanent(failure)
    case 429:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, effect: .refused)
    case 503 where response.retryAfter != nil:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, effect: .refused)
    case 408, 425, 500...599:
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    default: return .notCommitted(failure)
    }
  }

  /// Whether an end of which nothing is known is the end: no repetition tells more, or it is a commit, whose failure
  /// would give its upload ID back.
  private var endsKnowledge: Bool { !isRepeatedBlindly || kind == .commit }

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
      guard failure.mayHaveReachedServer else {
        return .transient(recorded, retryAfter: nil, scope: .host, effect: .notSent)
      }
      // A server redirected it to another, which could not be reached: the host that waits is not the step's.
      guard isRepeatedBlindly else { return .answerLost(recorded) }
      return .transient(recorded, retryAfter: nil, scope: .item, effect: .unknown)
    case .connectionLost, .requestTimeout, .malformedResponse:
      if !isRepeatedBlindly, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .transient(
        recorded, retryAfter: nil, scope: .item, effect: failure.mayHaveReachedServer ? .unknown : .notSent)
    case .resourceTimeout, .responseTooLarge, .redirect, .capture:
      // Nothing repeats it: of a commit that is the end of what can be known.
      if endsKnowledge, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .permanent(recorded)
    case .certificate where endsKnowledge && failure.mayHaveReachedServer:
      return .answerLost(recorded)
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

extension AttemptResult.Response {
  /// The status as it is judged: an invalid one counts as 500 (RFC 9110, section 15).
  fileprivate var judgedStatus: Int { (100...599).contains(status) ? status : 500 }
}

extension Verdict {
  /// What went wrong, if anything did.
  package var failure: RecordedFailure? {
    switch self {
    case .succeeded, .unchanged, .cancelled: nil
    case .limited(let failure): failure
    case .conditionRefused(let failure), .unauthorized(let failure), .uploadIDGone(let failure),
      .transient(let failure, _, _, _),
      .permanent(let failure), .answerLost(let failure), .notCommitted(let failure),
      .integrity(let failure):
      failure
    }
  }
}
