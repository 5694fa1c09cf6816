import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer

/// Interprets the response to each attempt for the scheduler.
struct ResponseInterpreter {
  let steps: PreparedSteps
  let captures: CaptureStore
  /// Whether the identity of the sent file is needed later, by node.
  private let keepsInodes: [Bool]
  /// The identities of the root folders, by node; only for nodes whose delivered files are deleted or moved.
  private let rootIdentities: [Int: FolderIdentity]

  init(
    _ plan: Plan, steps: PreparedSteps, captures: CaptureStore, rootIdentities: [Int: FolderIdentity]
  ) {
    self.steps = steps
    self.captures = captures
    self.rootIdentities = rootIdentities
    keepsInodes = plan.nodes.map { $0.after != .keep }
  }

  /// Whether a response to the attempt can assign an upload resource.
  func mayAssignResource(to attempt: Attempt) -> Bool {
    steps[attempt].transferProtocol.machine != nil && captures.resource(of: attempt.ref) == nil
  }

  /// The upload resource that an interim or final response assigns to an attempt; `nil` if it assigns none.
  /// The resource is recorded for later requests.
  func assignment(
    by answer: TransferResponse, to attempt: Attempt, at now: Instant, _ scheduler: Scheduler
  ) -> ResourceAssignment? {
    let prepared = steps[attempt]
    guard let machine = prepared.transferProtocol.machine, captures.resource(of: attempt.ref) == nil,
      let location = machine.resource(in: answer, to: attempt.operation)
    else { return nil }
    var base = URLReference(answer.url)
    base.removeUserinfo()
    var url = URLReference(location).resolved(against: base)
    guard url.isHTTP, let origin = Origin(url: url.description) else { return nil }
    url.removeUserinfo()
    // Ignore a resource with the URL of the request: its release would delete what the request itself refers to.
    guard !Self.isSame(url, answer.url), url.description.utf8.count <= Capture.defaultMaxSize else {
      return nil
    }
    if machine.commitNamesResources {
      let size = scheduler.fileSize(of: attempt.ref)
      let number = machine.resourceNumber(of: attempt.operation, size: size)
      let count = machine.resourceCount(size: size)
      guard captures.keep(partialUpload: url.description, number, of: count, attempt.ref) else { return nil }
    } else {
      captures.keep(resource: url.description, of: attempt.ref)
    }
    var assignment = ResourceAssignment(limit: machine.limit(in: answer))
    if prepared.readsUploadExpires { assignment.expires = UploadExpires.read(answer, now: now) }
    assignment.origins = captures.laterOrigins(of: prepared, attempt.ref)
    assignment.origins[.transfer] = origin
    if let path = scheduler.path(of: attempt.ref) {
      assignment.regained = captures.regained(by: attempt.ref, path: Array(path))
    }
    return assignment
  }

  /// The work that reads the response on another thread before `result` is called; `nil` if the response can
  /// be read on the loop's thread.
  func search(of outcome: TransferOutcome, _ attempt: Attempt) -> (@Sendable () -> ResponseReading)? {
    guard case .success(let answer) = outcome.result else { return nil }
    let prepared = steps[attempt]
    guard prepared.isRead(answer.status), !prepared.patterns.isEmpty || answer.body.count > Self.smallBody
    else { return nil }
    let (step, patterns) = (prepared.step, prepared.patterns)
    return { ResponseReading(answer, of: step, patterns) }
  }

  /// The maximum size in bytes of JSON and XML bodies that are read on the loop's thread.
  private static let smallBody = 16 << 10

  /// Converts an outcome for the scheduler, and keeps the values from the response.
  ///
  /// - Parameter reading: the result of `search`; `nil` to read the response here.
  func result(
    of outcome: TransferOutcome, _ attempt: Attempt, _ reading: ResponseReading? = nil,
    _ fetches: inout FetchCache, at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult {
    // Keep the file's identity and digest even if there is no response: the user may later resolve the item as
    // delivered.
    if let inode = outcome.inode, keepsInodes[attempt.ref.node.index] {
      captures.keep(inode: inode, root: rootIdentities[attempt.ref.node.index], of: attempt.ref)
    }
    if let sha256 = outcome.sentSHA256 { captures.keep(sha256: sha256, of: attempt.ref) }
    if attempt.ref.item != nil { captures.keep(redirectedTo: outcome.redirectedTo, of: attempt.ref) }
    let url = (try? outcome.result.get())?.url  // A failure has no response.
    let condition = fetches.condition(of: outcome.id, at: url)
    defer {
      fetches.forget(outcome.id)
      captures.keep(sentChecksum: nil, of: outcome.id)
      if !captures.refreshes.isEmpty { captures.refreshes[outcome.id] = nil }
    }
    let answer: AttemptResult.Answer =
      switch outcome.result {
      case .success(let response):
        judgeable(
          response.whole, to: attempt, reading, condition, isRedirected: outcome.redirectedTo != nil,
          &fetches,
          at: now, scheduler)
      case .failure(let failure):
        .failure(failure.withMessage(captures.masked(failure.message)))
      }
    var result = AttemptResult(
      id: outcome.id, answer: answer, traffic: outcome.traffic, duration: outcome.duration,
      detail: detail(of: outcome, answer, steps[attempt]), phases: outcome.phases)
    result.sentInLastHop = outcome.sentInLastHop
    result.sentBeforeResend = outcome.sentBeforeResend
    result.part = outcome.part
    result.segments = outcome.segments
    return result
  }

  /// The details of a failed request for the report; `nil` if the request succeeded, or if the reason for the failure
  /// lies on this machine.
  private func detail(
    of outcome: TransferOutcome, _ answer: AttemptResult.Answer, _ prepared: PreparedStep
  ) -> FailureDetail? {
    guard let url = outcome.url, isReported(answer, prepared) else { return nil }
    var detail = (reason: String?.none, body: String?.none)
    if case .success(let response) = outcome.result, !mayHaveUnknownSecret(prepared, url: url) {
      let hidden = response.queryValues
      detail.reason = ResponseExcerpt.line(
        captures.maskedBeginning(
          ResponseExcerpt.reasonLimit * 2, of: response.reason, isCut: response.isReasonCut,
          hiding: hidden),
        isCut: response.isReasonCut, limit: ResponseExcerpt.reasonLimit)
      if showsBody(response, prepared) {
        let masked = captures.maskedBeginning(
          ResponseExcerpt.examined, of: response.body, isCut: response.isBodyCut, hiding: hidden)
        detail.body = ResponseExcerpt.line(
          masked, isCut: response.isBodyCut || response.body.count > ResponseExcerpt.examined,
          limit: ResponseExcerpt.bodyLimit)
      }
    }
    return FailureDetail(
      method: outcome.method, url: shown(url), proxy: outcome.proxy,
      reasonPhrase: detail.reason, body: detail.body)
  }

  /// Whether a response may contain a secret that is not masked, because it is not among the known ones: the password of
  /// the request's URL, which a server may repeat, or a token that a response to an `oauth2` request contains in an
  /// unknown form.
  func mayHaveUnknownSecret(_ prepared: PreparedStep, url: String) -> Bool {
    prepared.grant != nil || Userinfo(url: url) != nil
  }

  /// A URL for display; `nil` if the URL is so long that masking it would take too much time.
  func shown(_ url: String) -> String? {
    guard url.utf8.count <= Self.longestURL else { return nil }
    // Mask the whole URL first, because a secret capture may be the whole URL.
    return ResponseExcerpt.line(ofURL: ResponseExcerpt.shown(captures.masked(url)))
  }

  /// The maximum length of a URL that is masked, in bytes. A server chooses the URL of a redirect.
  static let longestURL = 16 << 10

  private func isReported(_ answer: AttemptResult.Answer, _ prepared: PreparedStep) -> Bool {
    switch answer {
    case .response(let response):
      switch response.transfer {
      case .malformed, .foreign, .damaged, .refused, .gone, .referred: return true
      case .completed: break
      case .offset, .part, .parts, .completedEarlier: if response.missing == nil { return false }
      case .other: break
      }
      return !prepared.expects(response.status) && !prepared.step.alreadyDone.contains(response.status)
        || response.mismatch != nil || response.missing != nil
    case .failure(let failure):
      switch failure.code {
      case .nameResolution, .connect, .handshake, .certificate, .connectionLost, .requestTimeout,
        .resourceTimeout, .malformedResponse, .responseTooLarge, .redirect:
        return true
      case .byteLimit, .sourceMissing, .sourceUnreadable, .sourceChanged, .destination, .request, .capture,
        .otherServer, .cancelled:
        return false
      }
    }
  }

  /// Whether the beginning of the body may be shown. A successful response with a token or a secret capture may
  /// contain a secret that ferry has not read yet and therefore cannot mask. A response to an `oauth2` request may contain
  /// tokens in any form, whatever its status; only its status and error are shown.
  func showsBody(_ response: TransferResponse, _ prepared: PreparedStep) -> Bool {
    guard prepared.grant == nil, ResponseExcerpt.isText(response) else { return false }
    let step = prepared.step
    return response.status >= 400 || (step.kind != .token && !step.capture.contains(where: \.isSecret))
  }

  private func judgeable(
    _ answer: TransferResponse, to attempt: Attempt, _ reading: ResponseReading?,
    _ condition: FetchCondition?, isRedirected: Bool,
    _ fetches: inout FetchCache, at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult.Answer {
    var response = response(answer, to: attempt, reading, &fetches, at: now, scheduler)
    response.isRedirected = isRedirected
    let prepared = steps[attempt]
    guard prepared.kind.storesDocument else {
      // In the usual case, the step need not be copied.
      guard response.mismatch != nil || response.missing != nil else { return .response(response) }
      return BodyDoubt.failure(response, answer, to: prepared.step).map { .failure($0) }
        ?? .response(response)
    }
    response.condition = condition?.seen(in: answer) ?? .absent
    response.askedForRest = answer.askedForRest
    return .response(response)
  }

  private func response(
    _ answer: TransferResponse, to attempt: Attempt, _ found: ResponseReading?,
    _ fetches: inout FetchCache, at now: Instant, _ scheduler: Scheduler
  ) -> AttemptResult.Response {
    let prepared = steps[attempt]
    var response = AttemptResult.Response(status: answer.status)
    response.withheld = answer.withheld.map(captures.masked)
    response.challengeProblem = answer.challengeProblem.map(captures.masked)
    if prepared.builder.sign != nil, let skew = ClockSkew.explanation(answer, at: now) {
      response.withheld = captures.masked(skew)
    }
    if prepared.kind == .probe { response.age = CacheAge.read(answer) }
    if let text = answer.header("Retry-After") { response.retryAfter = RetryAfter.parse(text, now: now) }
    if prepared.readsUploadExpires, 200...299 ~= answer.status {
      response.uploadExpires = UploadExpires.read(answer, now: now)
    }
    if prepared.kind == .abandon, prepared.step.releases(status: answer.status) {
      response.isFollowedByRelease = captures.releaseNextResource(of: attempt.ref)
    }
    if let machine = prepared.transferProtocol.machine {
      read(answer, to: attempt, machine, prepared, found, &response, at: now, scheduler)
      guard response.transfer == .other || response.transfer == .completed else { return response }
    }
    if let grant = prepared.grant {
      read(answer, to: attempt, grant, prepared, &response)
      guard response.tokenError == nil, response.mismatch == nil else { return response }
    }
    guard prepared.expects(answer.status) else {
      response.reportsExpiry = ExpiredURL.isReported(by: answer)
      return response
    }
    // Most responses contain nothing that the step needs.
    guard prepared.readsResponse || answer.sha256 != nil else { return response }
    let step = prepared.step
    let reading =
      prepared.isRead(answer.status) ? found ?? ResponseReading(answer, of: step, prepared.patterns) : nil
    if step.kind.storesDocument {
      response.mismatch = fetches.take(
        answer, of: attempt, step, reading, at: now, masked: captures.masked)
      response.storedSize = answer.storedFile?.size
      return response
    }
    if let mismatch = reading?.mismatch {
      response.mismatch = mismatch.message
      switch mismatch.kind {
      case .different: break
      case .unreadable: response.isUnreadable = true
      case .undecided: (response.isUnreadable, response.isUndecided) = (true, true)
      }
      return response
    }
    if step.expect.hasETagOfParts, !isETagOfParts(answer, attempt.ref) {
      response.mismatch = "the object at the server does not have the ETag of the parts that were sent"
      return response
    }
    if step.expect.hasLocation, answer.header("Location")?.isEmpty ?? true {
      response.mismatch = "the response has no Location"
      response.isUndecided = true
      return response
    }
    if let sha256 = answer.sha256 { captures.keep(sha256: sha256, of: attempt.ref) }
    guard !step.capture.isEmpty else { return response }
    keep(reading?.captures ?? .success([]), answer, attempt, prepared, &response, at: now, scheduler)
    return response
  }

  /// Journals the refresh token in a response, before the response is searched or interpreted.
  func keepRefreshToken(in outcome: TransferOutcome, _ attempt: Attempt) {
    guard captures.refreshes[attempt.id] != nil, case .success(let answer) = outcome.result,
      steps[attempt].step.expects(status: answer.status)
    else { return }
    captures.keep(refreshToken: OAuth2Response(answer).refreshToken, of: attempt)
  }

  /// Reads the response to a request for an access token. The refresh token in the response is already journaled.
  private func read(
    _ answer: TransferResponse, to attempt: Attempt, _ grant: OAuth2Grant, _ prepared: PreparedStep,
    _ response: inout AttemptResult.Response
  ) {
    let fields = OAuth2Response(answer)
    let isSuccess = prepared.step.expects(status: answer.status)
    // The message about an error, and other parts of the response, may repeat them.
    for token in fields.tokens { captures.keep(tokenSecret: token, of: attempt) }
    response.tokenError = fields.error(grant, masked: captures.masked)
    guard isSuccess, response.tokenError == nil else { return }
    if answer.body.count > OAuth2Response.sizeLimit {
      response.mismatch = "the response is larger than \(OAuth2Response.sizeLimit) bytes"
    } else if prepared.needsBearer {
      response.mismatch = fields.typeMismatch
    }
  }

  /// Rejects a response to the creation of an upload if it does not identify the upload: the release could delete
  /// something else.
  private static func checkIdentity(
    _ read: [CapturedValue], _ prepared: PreparedStep, _ answer: TransferResponse
  ) throws(TransportFailure) {
    if prepared.recordedParts != nil, read.contains(where: { $0.name == "upload_id" && $0.value.isEmpty }) {
      throw TransportFailure(.capture, "the UploadId in the response is empty", mayHaveReachedServer: true)
    }
    guard prepared.createsUpload else { return }
    for (capture, value) in zip(prepared.step.capture, read) {
      if case .header(let name) = capture.source, name.lowercased() == "location",
        isSame(URLReference(value.value), answer.url)
      {
        throw TransportFailure(
          .capture,
          "the Location in the response is the URL of the request itself, and not that of a new upload",
          mayHaveReachedServer: true)
      }
    }
  }

  /// Whether a URL from a response is the URL of the request in its normal form, apart from its fragment, user name
  /// and password.
  private static func isSame(_ url: URLReference, _ request: String) -> Bool {
    url.resource == URLReference(request).resource
  }

  /// Records the size of the parts of an S3 upload together with its upload ID.
  private func recordPartSize(
    _ parts: S3Multipart, _ attempt: Attempt, _ read: inout [CapturedValue], _ scheduler: Scheduler
  ) {
    guard let id = read.first(where: { $0.name == "upload_id" }) else { return }
    let record = parts.partSizeRecord(size: scheduler.fileSize(of: attempt.ref), uploadID: id.value)
    read.append(CapturedValue(name: S3Multipart.partSizeCapture, value: record, isSecret: id.isSecret))
  }

  /// Whether the response to a probe describes an object that consists of the item's parts.
  private func isETagOfParts(_ answer: TransferResponse, _ ref: ItemRef) -> Bool {
    let text = captures[ref].transfer.first { $0.name == RequestTemplate.partsCapture }?.value
    guard let etag = answer.header("ETag"), let parts = text.flatMap({ PartTags(text: $0) }) else {
      return false
    }
    return parts.isETag(etag)
  }

  /// Keeps the captures of a response, or reports that one is missing.
  func keep(
    _ read: Result<[CapturedValue], TransportFailure>, _ answer: TransferResponse, _ attempt: Attempt,
    _ prepared: PreparedStep, _ response: inout AttemptResult.Response, at now: Instant,
    _ scheduler: Scheduler
  ) {
    let step = prepared.step
    do throws(TransportFailure) {
      var read = Self.resolveLocations(try read.get(), step, answer)
      try Self.checkIdentity(read, prepared, answer)
      if let apply = prepared.apply, let failure = TokenCheck.failure(read, apply) { throw failure }
      if let parts = prepared.recordedParts { recordPartSize(parts, attempt, &read, scheduler) }
      let found = captures.guarded(read, of: attempt.ref)
      try captures.items.checkRoom(for: found, of: attempt.ref)
      response.expires = ExpiryReader.expiry(of: found, now: now)
      captures.keep(found, of: attempt, step)
      if [.allocate, .transfer].contains(step.kind), let path = scheduler.path(of: attempt.ref) {
        response.regained = captures.regained(by: attempt.ref, path: Array(path))
      }
      response.origins = captures.laterOrigins(of: prepared, attempt.ref)
    } catch {
      response.missing = error
    }
  }

  /// Resolves captures of `Location`, which may be relative to the request's URL (RFC 9110 §10.2.2). Later steps need
  /// an absolute URL.
  private static func resolveLocations(
    _ captures: [CapturedValue], _ step: Step, _ answer: TransferResponse
  ) -> [CapturedValue] {
    captures.enumerated().map { index, capture in
      guard case .header(let name) = step.capture[index].source, name.lowercased() == "location" else {
        return capture
      }
      var resolved = capture
      var base = URLReference(answer.url)
      base.removeUserinfo()
      resolved.value = URLReference(capture.value).resolved(against: base).description
      return resolved
    }
  }
}

extension TransferResponse {
  /// The response, with the status that it would have if the whole document had been requested.
  fileprivate var whole: TransferResponse {
    isContinued ? replacing(status: 200) : self
  }
}
