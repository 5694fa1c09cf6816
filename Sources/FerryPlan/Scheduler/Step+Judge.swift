import FerryManifest

// The meaning of each status and failure. Statuses are evaluated only in this file, except those with a meaning in an
// upload protocol (`TransferMachine.read`).

extension Step {
  /// Evaluates the result of an attempt at this step.
  ///
  /// - Parameters:
  ///   - refreshStatuses: the statuses on which the step's token is refreshed.
  ///   - uploadID: the validity of the allocated upload ID that the step uses; `nil` if it uses none.
  ///   - method: the method of the request, for messages. It is that of the step unless an upload protocol sends the
  ///     transfer in several requests.
  package func judge(
    _ answer: AttemptResult.Answer, refreshStatuses: [Int], uploadID: Validity?, method: String
  ) -> Verdict {
    switch answer {
    case .response(let response):
      judge(response, refreshStatuses: refreshStatuses, uploadID: uploadID, method: method)
    case .failure(let failure): judge(failure)
    }
  }

  /// The statuses that show, in response to `abandon`, that the server does not know the upload ID. Such an
  /// ID does not need to be released.
  private static let unknownIDStatuses = [404, 410]

  /// Whether the response to `abandon` states that the server no longer has what the request releases.
  package func releases(status: Int) -> Bool {
    expects(status: status) || Self.unknownIDStatuses.contains(status)
  }

  private func judge(
    _ response: AttemptResult.Response, refreshStatuses: [Int], uploadID: Validity?, method: String
  ) -> Verdict {
    let status = response.status
    switch response.transfer {
    case .malformed(let problem), .foreign(let problem):
      return .permanent(.init(code: .unexpectedResponse, status: status, message: problem))
    case .damaged(let problem):
      return .transient(
        .init(code: .unexpectedResponse, status: status, message: problem), retryAfter: response.retryAfter,
        scope: .item, effect: .refused)
    case .offset, .part, .parts:
      guard let missing = response.missing else { return .partial }
      return .permanent(.init(code: .init(missing.code), status: status, message: missing.message))
    case .completedEarlier:
      guard let missing = response.missing else { return .partial }
      let failure = RecordedFailure(code: .init(missing.code), status: status, message: missing.message)
      // The captures are lost. Only a new upload has them again.
      return repeatability == .once ? .answerLost(failure) : .uploadIDGone(failure)
    case .referred:
      let message = "the server responded with \(status) after it had assigned an upload resource"
      return .transient(
        .init(code: .httpStatus, status: status, message: message), retryAfter: nil, scope: .item,
        effect: .refused)
    case .refused:
      return .transient(
        refusal(response, to: method), retryAfter: response.retryAfter, scope: .item, effect: .refused)
    // A 403 may refuse the token instead of the upload.
    case .gone where response.withheld == nil && (token == nil || !refreshStatuses.contains(status)):
      return .uploadIDGone(refusal(response, to: method))
    case .gone, .completed, .other: break
    }
    if let error = response.tokenError {
      let failure = error.failure(status: status)
      // The statuses of overloaded servers and gateways have the same meaning as for all other requests.
      if error.isTemporary || status == 429 || status >= 500 {
        return .transient(
          failure, retryAfter: response.retryAfter, scope: status == 429 ? .host : .item, effect: .refused)
      }
      return .permanent(failure)
    }
    if kind == .probe { return judgeProbe(response, refreshStatuses: refreshStatuses, method: method) }
    if alreadyDone.contains(status) { return .succeeded }
    if kind == .abandon, Self.unknownIDStatuses.contains(status) { return .succeeded }
    if kind.storesDocument, status == 304 { return judgeNotModified(response.condition) }
    // The response does not fit the part. The whole document is requested, even if the manifest accepts this status.
    if kind.storesDocument, status == 206, response.askedForRest {
      return .conditionRefused(refusal(response, to: method))
    }
    if expects(status: status) {
      if let mismatch = response.mismatch {
        let failure = RecordedFailure(code: .unexpectedResponse, status: status, message: mismatch)
        // The server may have acted, but its response was not fully evaluated.
        if response.isUndecided, !isRepeatedBlindly || kind == .commit { return .answerLost(failure) }
        return .permanent(failure)
      }
      if let missing = response.missing {
        let failure = RecordedFailure(code: .init(missing.code), status: status, message: missing.message)
        // The server executed the step, which is never sent again.
        return repeatability == .once ? .answerLost(failure) : .permanent(failure)
      }
      return kind.storesDocument && content(of: status) == .nothing ? .unchanged : .succeeded
    }
    let failure = refusal(response, to: method)
    if token != nil, refreshStatuses.contains(status), response.withheld == nil {
      return .unauthorized(
        .init(code: .unauthorized, status: status, message: "the server rejected the token with \(status)"))
    }
    if let uploadID, refusesUploadID(response, uploadID) { return .uploadIDRefused(failure) }
    if notExecuted.contains(status) {
      return .transient(
        failure, retryAfter: response.retryAfter, scope: response.retryAfter == nil ? .item : .host,
        effect: .refused)
    }
    switch response.judgedStatus {
    case 207 where reportsFailures(status: status), 300...399:
      // A server may act and then redirect, or act on some of the resources. Only a status listed in `expect` proves
      // that it acted; a redirect never proves that it did not.
      return endsKnowledge ? .answerLost(failure) : .permanent(failure)
    case 400, 412, 431:
      // The server may be unable to read the validator, or may mistake it for another condition.
      guard kind.storesDocument else { return .permanent(failure) }
      if response.askedForRest { return .conditionRefused(failure) }
      guard case .recorded = response.condition else { return .permanent(failure) }
      return .conditionRefused(failure)
    case 416 where response.askedForRest:
      // The document is now smaller than the part. The whole document is requested.
      return .conditionRefused(failure)
    case 404, 410:
      return uploadID != nil && kind != .allocate ? .uploadIDGone(failure) : .permanent(failure)
    case 429:
      return .transient(failure, retryAfter: response.retryAfter, scope: .host, effect: .refused)
    case 408, 425, 501, 505, 511:
      // These statuses mean that the request was not executed. No other 5xx shows whether it was executed.
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    case 500...599:
      // A server may have acted before it failed, and a gateway cannot determine this (RFC 9110 §15.6.1,
      // §15.6.3). Gateways such as Apache, Envoy and Varnish also send 503 if the server is disconnected while it executes a
      // request.
      guard isRepeatedBlindly else { return .answerLost(failure) }
      return .transient(
        failure, retryAfter: response.retryAfter,
        scope: status == 503 && response.retryAfter != nil ? .host : .item, effect: .unknown)
    default:
      return .permanent(failure)
    }
  }

  /// The validity of an upload ID when a response arrives.
  package enum Validity: Sendable {
    case valid
    /// The ID's `valid_for`, or the expiry set by the server, has passed.
    case expired
  }

  /// Whether the response refuses the upload ID and not the file. Without `renew_on`, a 403 alone does not show this.
  private func refusesUploadID(_ response: AttemptResult.Response, _ uploadID: Validity) -> Bool {
    guard kind == .transfer || kind == .commit else { return false }
    if renewOn.contains(response.status) { return true }
    guard response.withheld == nil else { return false }
    return response.reportsExpiry || (response.status == 403 && uploadID == .expired)
  }

  /// The failure for a response's status, with advice where possible.
  private func refusal(_ response: AttemptResult.Response, to method: String) -> RecordedFailure {
    let status = response.status
    var message = RecordedFailure.statusMessage(status, to: method)
    switch status {
    case 301, 302, 303:
      let isKept = method == "GET" || method == "HEAD" || status != 303 && request.isIdempotent
      message +=
        isKept
        ? Self.unfollowed
        : ", and ferry does not follow this redirect: the response to another request, such as a GET of a login page, "
          + "does not show the outcome of this one; if \(status) means success, list it in 'expect: { status: [\(status)] }'"
    case 307, 308: message += Self.unfollowed
    case 300...399:
      message +=
        ", which is not a redirect that ferry follows; if it means success, list it in 'expect: { status }'"
    case 401, 403:
      if let reason = response.withheld ?? response.challengeProblem { message += "; \(reason)" }
    case 503 where !isRepeatedBlindly:
      message +=
        "; if neither the server nor a gateway sends 503 for a request that may have been executed, write "
        + "'retry: { not_executed: [503] }'"
    case 200...299 where kind.storesDocument:
      message = refusal(of: status, askedForRest: response.askedForRest)
    case 207 where reportsFailures(status: status):
      message +=
        ", which reports that a part of the request failed (RFC 4918, section 13); if it means success, list it in "
        + "'expect: { status: [207] }'"
    default: break
    }
    return RecordedFailure(code: .httpStatus, status: status, message: message)
  }

  private static let unfollowed = ", a redirect without a Location, or beyond 'redirects: { limit: 0 }'"

  /// Whether a response with this status is the expected one, unless its header fields or body do not match.
  package func expects(status: Int) -> Bool {
    if kind.storesDocument { return content(of: status) != .unexpected }
    guard expect.status.isEmpty else { return expect.status.contains(status) }
    return (200...299).contains(status) && !reportsFailures(status: status)
  }

  /// The methods of WebDAV to which a server responds with 207 (Multi-Status) only if a part of the request failed (RFC
  /// 4918, sections 9.6.1, 9.8.5, 9.9.4 and 9.10.9). In response to PROPFIND, the status is a success.
  private static let partialMethods: Set = ["COPY", "DELETE", "LOCK", "MOVE"]

  /// Whether a 2xx response reports failures in its body.
  private func reportsFailures(status: Int) -> Bool {
    status == 207 && Self.partialMethods.contains(request.method)
  }

  /// Evaluates a 304 response, which is valid only for the validator in the request (RFC 9110, section
  /// 15.4.5).
  private func judgeNotModified(_ condition: AttemptResult.Condition) -> Verdict {
    switch condition {
    case .recorded(isNamed: true), .written:
      return .unchanged
    case .recorded(isNamed: false):
      return .conditionRefused(
        .init(
          code: .httpStatus, status: 304,
          message: "the server responded with 304 for a version other than the one in the request"))
    case .absent:
      return .permanent(
        .init(
          code: .httpStatus, status: 304,
          message: "the server responded with 304 to a request without a validator"))
    }
  }

  /// Evaluates the response to a probe. The transient statuses are those of `judge`. The expected response
  /// means that the commit was executed. A response that may change later, or that only rejects the client,
  /// is inconclusive.
  private func judgeProbe(
    _ response: AttemptResult.Response, refreshStatuses: [Int], method: String
  ) -> Verdict {
    let status = response.status
    let failure = refusal(response, to: method)
    let isExpected = expects(status: status)
    // The target of a redirect may be another server, such as that of a login page, which does not know the commit.
    if response.isRedirected, !isExpected || response.mismatch != nil || !expect.readsAnswer {
      let failure = RecordedFailure(
        code: .unexpectedResponse, status: status,
        message:
          "the probe was redirected, and the response of the target does not show that the commit was executed"
      )
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    }
    if isExpected {
      guard let mismatch = response.mismatch else { return .succeeded }
      let failure = RecordedFailure(code: .unexpectedResponse, status: status, message: mismatch)
      guard response.isUnreadable else { return .notCommitted(failure) }
      // The response is a page from another server, such as a captive portal.
      return .transient(failure, retryAfter: response.retryAfter, scope: .item, effect: .refused)
    }
    if token != nil, refreshStatuses.contains(status), response.withheld == nil {
      return .unauthorized(
        .init(code: .unauthorized, status: status, message: "the server rejected the token with \(status)"))
    }
    switch response.judgedStatus {
    // A redirect that is not followed is inconclusive.
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

  /// Whether an unknown outcome is final because a retry would not reveal more, or because the step is a
  /// commit, whose failure would release its upload ID.
  private var endsKnowledge: Bool { !isRepeatedBlindly || kind == .commit }

  /// Whether the step may be sent again without a check.
  private var isRepeatedBlindly: Bool {
    switch repeatability {
    case .repeatable, .startsOver: true
    case .afterProbe, .once: false
    }
  }

  private func judge(_ failure: TransportFailure) -> Verdict {
    let recorded = RecordedFailure(code: .init(failure.code), message: failure.message)
    switch failure.code {
    case .nameResolution, .connect, .handshake:
      guard failure.mayHaveReachedServer else {
        return .transient(recorded, retryAfter: nil, scope: .host, effect: .notSent)
      }
      // The request was redirected to another host that could not be reached, so the step's own host must
      // not be paused.
      guard isRepeatedBlindly else { return .answerLost(recorded) }
      return .transient(recorded, retryAfter: nil, scope: .item, effect: .unknown)
    case .connectionLost, .requestTimeout, .malformedResponse:
      if !isRepeatedBlindly, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .transient(
        recorded, retryAfter: nil, scope: .item, effect: failure.mayHaveReachedServer ? .unknown : .notSent)
    case .resourceTimeout, .responseTooLarge, .redirect, .capture:
      // The request is not retried, so the outcome of a commit stays unknown.
      if endsKnowledge, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .permanent(recorded)
    case .certificate where endsKnowledge && failure.mayHaveReachedServer:
      return .answerLost(recorded)
    case .certificate, .destination: return .permanent(recorded)
    case .request, .sourceMissing, .sourceUnreadable, .sourceChanged:
      // The request cannot be sent to the target of a redirect, but the first server has received all of it.
      if endsKnowledge, failure.isRedirected { return .answerLost(recorded) }
      return failure.code == .sourceChanged ? .integrity(recorded) : .permanent(recorded)
    case .byteLimit:
      if repeatability == .once, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .limited(.init(code: .budget, message: "the remaining budget is too small"))
    case .otherServer: return .otherServer(recorded)
    case .cancelled:
      if repeatability == .once, failure.mayHaveReachedServer { return .answerLost(recorded) }
      return .cancelled(reachedServer: failure.mayHaveReachedServer)
    }
  }
}

extension AttemptResult.Response {
  /// The status used for evaluation: an invalid one counts as 500 (RFC 9110, section 15).
  fileprivate var judgedStatus: Int { (100...599).contains(status) ? status : 500 }
}

extension AttemptResult.Answer {
  /// The wait that the server requested; `nil` if it requested none.
  var retryAfter: Duration? {
    switch self {
    case .response(let response): response.retryAfter
    case .failure: nil
    }
  }

  /// Whether the server may have executed the request. It certainly has not if it refused the request (4xx
  /// except 408) or referred it elsewhere, or the request was not sent. A report from an overloaded server that it did nothing is
  /// sufficient for a retry, but not for a deletion.
  var mayHaveActed: Bool {
    switch self {
    case .response(let response):
      response.transfer != .referred && (!(400...499).contains(response.status) || response.status == 408)
    case .failure(let failure): failure.mayHaveReachedServer
    }
  }
}
