import FerryManifest

/// The consequences of an attempt's result.
extension Scheduler {
  mutating func finish(_ result: AttemptResult) {
    guard let flight = flights.removeValue(forKey: result.id) else {
      preconditionFailure("attempt \(result.id) must end exactly once, after it was started")
    }
    let ref = flight.attempt.ref
    hostQueues[flight.hostQueue].inFlight -= flight.attempt.connections
    if case .failure(let failure) = result.answer, let size = failure.refusedBodySize {
      return reserve(bodySize: size, for: flight)
    }
    let step = judgedStep(flight, result.answer)
    let refreshStatuses: [Int] =
      if let token = step.token, case .token(let work) = plan.nodes[token.index].work {
        work.refresh.onStatus
      } else {
        []
      }
    var verdict = step.judge(
      result.answer, refreshStatuses: refreshStatuses,
      uploadID: uploadID(of: flight).map { id in
        id.expires.map { $0 <= now } == true ? .expired : .valid
      }, method: result.detail?.method ?? step.request.method)
    if flight.attempt.operation != .whole { verdict = follow(flight, result, verdict) }
    if step.kind == .probe { verdict = current(verdict, result.answer, flight) }
    if let detail = result.detail, verdict.failure != nil {
      verdict = verdict.with(metrics.details.kept(detail))
    }
    if !result.isListed {
      metrics.count(
        flight.attempt.step, result, verdict, fileSize: fileSize(of: ref),
        isPart: flight.attempt.operation != .whole, of: ref.node, at: now)
    }
    if let part = result.part { count(part, of: ref) }
    if let segments = result.segments, verdict == .succeeded { metrics.count(segments, of: ref.node) }
    if flight.attempt.step == .download {
      countDownload(ref, result, verdict)
    } else if flight.attempt.step == .transfer, flight.attempt.operation == .whole {
      countWhole(flight, result, verdict)
    } else if flight.attempt.step == .request {
      countBody(ref, result, verdict)
    }
    if !result.isListed { self[attempts: ref]?.requests += 1 }
    // A failed attempt at a document of unknown size has used a part of the budget. The next one gets the rest.
    if flight.attempt.byteLimit != nil, verdict != .succeeded { releaseReservation(ref) }
    switch verdict {
    case .transient(_, _, .host, _), .otherServer, .cancelled: break
    case .answerLost(let failure) where failure.status == 503: break
    case .succeeded, .partial, .unchanged, .conditionRefused, .unauthorized, .uploadIDGone, .uploadIDRefused,
      .transient,
      .permanent, .answerLost, .notCommitted, .integrity, .limited:
      // The result of a request that started before the host failed provides no information about the
      // current state of the host.
      if flight.startedAt >= hostQueues[flight.hostQueue].waveEnded ?? flight.startedAt {
        hostQueues[flight.hostQueue].failures = 0
        hostQueues[flight.hostQueue].resumeAt = nil
      }
    }
    if let attemptFailure = verdict.failure {
      let entry = AttemptFailure(
        step: flight.attempt.step, code: attemptFailure.code, status: attemptFailure.status,
        message: attemptFailure.message,
        endedAt: now, duration: result.duration, detail: attemptFailure.detail)
      self[attempts: ref]?.add(entry)
    }
    switch step.kind {
    case .token: finishToken(flight, result, verdict)
    case .abandon: finishRelease(flight, step, result.answer, verdict)
    case .allocate, .transfer, .commit, .probe, .fetch, .request, .download:
      guard flight.attempt.operation != .whole else { return finish(flight, step, result, verdict) }
      let landing = Landing(flight: flight, result: result, verdict: verdict)
      guard let judged = landed(landing) else { return }
      finish(judged.flight, judgedStep(judged.flight, judged.result.answer), judged.result, judged.verdict)
    }
  }

  /// Counts the file's bytes in a transfer that consists of one request.
  private mutating func countWhole(_ flight: Flight, _ result: AttemptResult, _ verdict: Verdict) {
    let ref = flight.attempt.ref
    if verdict == .succeeded {
      sample(ref.node, result)
      let useful = min(result.traffic.bodySent, fileSize(of: ref))
      self[attempts: ref]?.usefulBytes = useful
    } else {
      sendsAgain(ref, bytes: result.traffic.bodySent)
    }
  }

  /// Counts the body of a single request, which a failed request sends again.
  private mutating func countBody(_ ref: ItemRef, _ result: AttemptResult, _ verdict: Verdict) {
    guard verdict == .succeeded else { return sendsAgain(ref, bytes: result.traffic.bodySent) }
    self[attempts: ref]?.usefulBytes = result.traffic.bodySent
  }

  /// Counts the bytes of a download: those that a failed request received and that no part keeps are requested again.
  private mutating func countDownload(_ ref: ItemRef, _ result: AttemptResult, _ verdict: Verdict) {
    guard verdict != .succeeded else { return sample(ref.node, result) }
    let lost = max(0, result.traffic.bodyReceived - (result.part?.kept ?? 0)) +| (result.part?.dropped ?? 0)
    if lost > 0, documentSize(of: ref) != nil { sendsAgain(ref, bytes: lost) }
  }

  private mutating func sample(_ node: NodeID, _ result: AttemptResult) {
    let bytes = max(result.traffic.bodySent, result.traffic.bodyReceived)
    guard let upload = uploadIndex[node.index] else { return }
    // A local value: the right side of `??` would copy the whole upload.
    let largest = uploads[upload].largest
    guard bytes > largest?.bytes ?? 0 else { return }
    uploads[upload].largest = TransferSample(bytes: bytes, duration: result.duration)
  }

  private mutating func finish(_ flight: Flight, _ step: Step, _ result: AttemptResult, _ verdict: Verdict) {
    let ref = flight.attempt.ref
    updateDoubt(flight, step, result, verdict)
    updateIntent(ref, step, verdict)
    if case .cancelled(let failure) = flight.interruption, goesOn(ref, step, after: verdict) {
      // The request completed before it could be canceled.
      return end(ref, .cancelled, failure)
    }
    if verdict == .succeeded, refusesRegained(flight, step, result.answer) { return }
    switch verdict {
    case .partial:
      self[attempts: ref]?.replacements = 0
      // The next part precedes other transfers. Otherwise, several large files would share the time of a launch, and none
      // might complete in it.
      again(ref, .transfer, first: true)
    case .succeeded, .unchanged: succeed(ref, step, result, verdict)
    case .conditionRefused(let failure):
      guard self[attempts: ref]?.isUnconditional == false else { return end(ref, .failed, failure) }
      self[attempts: ref]?.isUnconditional = true
      again(ref, flight.attempt.step)
    case .unauthorized(let failure):
      let replacements = (self[attempts: ref]?.replacements ?? 0) + 1
      self[attempts: ref]?.replacements = replacements
      if replacements > Self.mostReplacements {
        note(.authorization, of: ref.node)
        end(ref, .failed, failure)
      } else {
        let isNews =
          step.token.map { invalidate(token: $0, generation: flight.attempt.tokenGeneration) } ?? false
        replace(flight, isNews: isNews)
      }
    case .uploadIDGone(let failure), .otherServer(let failure):
      if progress(of: ref)?.doubt == .unknown { return end(ref, .failed, failure) }
      if mightDeliverTwice(ref) { return endWithoutResource(ref, failure) }
      if case .uploadIDGone = verdict { metrics.idsExpired += 1 }
      // The other partial uploads of the file may still exist.
      let gone: OrphanReason? = hasSeveralResources(ref) ? .expired : nil
      startOver(flight, failure, dropping: verdict == .otherServer(failure) ? .otherServer : gone)
    case .uploadIDRefused(let failure):
      if mightDeliverTwice(ref) { return endWithoutResource(ref, failure) }
      // A commit that may have been executed is not followed by another, and the number of new IDs is
      // limited, because a server may refuse every ID.
      let retries = self[attempts: ref]?.retries ?? 0
      guard progress(of: ref)?.doubt != .unknown, retries < plan.nodes[ref.node.index].retry.limit else {
        return end(ref, .failed, failure)
      }
      metrics.idsExpired += 1
      startOver(flight, failure, dropping: .expired)
    case .transient(let failure, let retryAfter, let scope, let effect):
      var kind = nextStep(of: ref, flight.attempt.step)
      // Even a refused request may have left bytes under the upload ID.
      if step.repeatability == .startsOver, effect != .notSent {
        discardUploadID(ref, .startedOver)
        kind = .allocate
      } else if case .response(let response) = result.answer, response.transfer == .completed {
        // The server no longer continues the upload.
        if mightDeliverTwice(ref) { return endWithoutResource(ref, failure) }
        if progress(of: ref)?.uploadID != nil { discardUploadID(ref, nil) }
      } else if case .response(let response) = result.answer, response.transfer == .referred {
        return sendAnew(flight, failure)
      }
      retry(flight, failure, retryAfter: retryAfter, scope: scope, as: kind)
    case .permanent(let failure): end(ref, .failed, failure)
    case .integrity(let failure):
      note(.integrity, of: ref.node)
      end(ref, .failed, failure)
    case .answerLost(let failure) where step.repeatability == .afterProbe:
      retry(flight, failure, retryAfter: result.answer.retryAfter, scope: .item, as: .probe)
    case .notCommitted: commitAgain(ref)
    case .answerLost(let failure):
      end(
        ref, .ambiguous,
        .init(
          code: .responseLost, status: failure.status,
          message: "\(step.kind.rawValue) may have been executed: \(failure.message)",
          detail: failure.detail))
      // Otherwise, each request to an overloaded server would become ambiguous.
      if failure.status == 503 { pauseForOthers(flight, failure, retryAfter: result.answer.retryAfter) }
    case .limited(let failure):
      limit(flight, step, result.part, failure)
    case .cancelled(let reachedServer): interrupted(flight, step, reachedServer)
    }
  }

  /// Ends an item of which the server may have the whole file, because its upload resource can no longer show that.
  private mutating func endWithoutResource(_ ref: ItemRef, _ failure: RecordedFailure) {
    end(
      ref, .ambiguous,
      .init(
        code: .responseLost, status: failure.status,
        message:
          "transfer may have been executed, and its upload resource cannot be used: \(failure.message)",
        detail: failure.detail))
  }

  /// Sends the first request of an upload again, because the server referred it to another URL or challenged it. The
  /// second request is a new attempt: its intent, and the loss of the first resource, are on disk before it is sent.
  /// Otherwise, a launch after a kill would continue at the resource of the first request, although the second one had
  /// been executed.
  private mutating func sendAnew(_ flight: Flight, _ failure: RecordedFailure) {
    let ref = flight.attempt.ref
    if progress(of: ref)?.uploadID != nil { discardUploadID(ref, .startedOver) }
    let replacements = (self[attempts: ref]?.replacements ?? 0) + 1
    self[attempts: ref]?.replacements = replacements
    guard replacements <= Self.mostReplacements else { return end(ref, .failed, failure) }
    replace(flight, isNews: false)
  }

  /// The number of times in a row that a request is replaced without a wait.
  private static let mostReplacements = 2

  /// Returns an item to its first step, because its upload ID, or the server's copy of its file, cannot be
  /// used.
  ///
  /// - Parameter reason: the reason why the upload ID will not be used; `nil` if it does not exist on any server.
  private mutating func startOver(
    _ flight: Flight, _ failure: RecordedFailure, dropping reason: OrphanReason?
  ) {
    let ref = flight.attempt.ref
    let wasSent = progress(of: ref)?.isTransferred == true
    let first: Step.Kind = progress(of: ref)?.uploadID == nil ? .transfer : firstStep(of: ref)
    discardUploadID(ref, reason)
    if wasSent, stop == nil, startsNoSooner(session(of: ref.node)) != nil {
      // The item's next transfer counts as a new one.
      return enqueueCreated(ref, first)
    }
    retry(flight, failure, retryAfter: nil, scope: .item, as: first, firstAtOnce: true)
  }

  /// Whether another request for the item or node follows a step with this verdict.
  private func goesOn(_ ref: ItemRef, _ step: Step, after verdict: Verdict) -> Bool {
    switch verdict {
    case .succeeded, .unchanged:
      return step.kind == .allocate || (step.kind == .transfer && hasCommit(ref))
    case .partial, .conditionRefused, .unauthorized, .uploadIDGone, .uploadIDRefused, .otherServer,
      .transient,
      .notCommitted, .limited:
      return true
    case .answerLost: return step.repeatability == .afterProbe
    case .permanent, .integrity, .cancelled: return false
    }
  }

  /// Handles a request that ferry itself canceled.
  private mutating func interrupted(_ flight: Flight, _ step: Step, _ reachedServer: Bool) {
    let ref = flight.attempt.ref
    let startsOver = step.repeatability == .startsOver && reachedServer
    switch flight.interruption {
    case .cancelled(let failure): end(ref, .cancelled, failure)
    case .refused(let failure): end(ref, .failed, failure)
    case .conditions where stop == nil:
      if startsOver { discardUploadID(ref, .startedOver) }
      again(ref, startsOver ? .allocate : nextStep(of: ref, step.kind))
    case .expired, .conditions, .superseded, nil:
      if startsOver { discardUploadID(ref, .startedOver) }
      leave(ref, flight.interruption == .expired ? .expired : stopReason)
    }
  }

  /// Called when the server has rejected the token of a request, or has referred the request elsewhere: replaces the
  /// request by one that has the new token and keeps the upload ID, if there is one. For the resume delay, the transfer counts as a new one, and the first
  /// rejection of a token counts as a resume. Under `after_completion`, the rejection counts as a completion,
  /// and is handled no sooner than the delay ends.
  private mutating func replace(_ flight: Flight, isNews: Bool) {
    let ref = flight.attempt.ref
    let session = session(of: ref.node)
    guard stop == nil, flight.attempt.step == .transfer, hasResumes(session) else {
      return again(ref, nextStep(of: ref, flight.attempt.step))
    }
    if plan.policies.resumeDelay.policy == .afterCompletion {
      change(ref, .wait)
      return owe(.rejection(ready(ref, .transfer)), session)
    }
    if isNews { resume(session) }
    enqueueCreated(ref, .transfer)
  }

  private mutating func succeed(_ ref: ItemRef, _ step: Step, _ result: AttemptResult, _ verdict: Verdict) {
    guard case .response(let response) = result.answer else { return }
    route(ref, response.origins)
    self[attempts: ref]?.replacements = 0
    regain(response.regained)
    switch step.kind {
    case .allocate:
      guard case .upload(let work) = plan.nodes[ref.node.index].work else { return }
      let bound = work.validFor.map { now.advanced(by: $0) }
      let expires = [bound, response.expires, response.uploadExpires].compactMap { $0 }.min()
      metrics.idsAllocated += 1
      change(ref, .allocate(expires: expires))
      again(ref, .transfer)
    case .transfer:
      guard hasCommit(ref) else { return end(ref, .done, nil) }
      finishTransfer(ref)
    case .commit, .probe, .request: end(ref, .done, nil)
    case .download:
      if let size = response.storedSize { keep(size: size, of: ref) }
      end(ref, .done, nil)
    case .fetch:
      guard case .fetch(let work) = plan.nodes[ref.node.index].work else { return }
      let result: FetchResult = verdict == .unchanged ? .noData : .newData
      nodes[ref.node.index].fetchResult = result
      nodes[ref.node.index].interval = work.interval.next(
        after: result, kept: nodes[ref.node.index].interval)
      end(ref, .done, nil)
    case .token, .abandon: break
    }
  }

  /// Clears the intent that an attempt has used up, unless the attempt was certainly not sent or may have
  /// been executed.
  private mutating func updateIntent(_ ref: ItemRef, _ step: Step, _ verdict: Verdict) {
    // A probe does not change the intent of the commit that it checks.
    guard step.kind != .probe else { return }
    switch verdict {
    case .transient(_, _, _, .unknown), .answerLost, .otherServer, .cancelled: break
    case .transient(_, _, _, .notSent), .transient(_, _, _, .refused), .unauthorized:
      // The attempt was not sent, or the server refused it, so a later launch must not treat it as a lost response. An
      // earlier attempt may still have a lost response.
      withdrawIntent(ref)
    case .succeeded, .partial, .unchanged, .conditionRefused, .uploadIDGone, .uploadIDRefused, .permanent,
      .notCommitted, .integrity, .limited:
      useIntent(ref)
    }
  }

  /// Updates whether the server may have delivered the file. After a commit that may have been executed,
  /// only a success or the probe provides information: a later attempt may be refused because an earlier one
  /// was executed.
  private mutating func updateDoubt(
    _ flight: Flight, _ step: Step, _ result: AttemptResult, _ verdict: Verdict
  ) {
    let ref = flight.attempt.ref
    let answer = result.answer
    guard ref.item != nil else { return }
    switch (step.kind, verdict) {
    case (.commit, .answerLost), (.commit, .transient(_, _, _, .unknown)),
      (.commit, .cancelled(reachedServer: true)):
      doubtCommit(ref)
    // An earlier commit may still be executed.
    case (.commit, .transient), (.commit, .unauthorized), (.commit, .limited), (.commit, .cancelled):
      if reliedOnProbe(ref) {
        doubtCommit(ref)
      } else if answer.mayHaveActed {
        change(ref, .doubt(.possible))
      }
    case (.commit, _): if answer.mayHaveActed { change(ref, .doubt(.possible)) }
    case (.transfer, _):
      if !hasCommit(ref), answer.mayHaveActed, mayComplete(flight, result) {
        change(ref, .doubt(.possible))
      }
    default: break
    }
  }

  /// Records the end of an item's transfer, and queues its commit. In a background session, the commit waits until the
  /// batch has completed (`isBatchComplete`).
  private mutating func finishTransfer(_ ref: ItemRef) {
    guard let upload = uploadIndex[ref.node.index] else { return }
    change(ref, .finishTransfer)
    releaseReservation(ref)
    if stop == nil, hasResumes(session(of: ref.node)) {
      keepUntilBatchCompletes(ready(ref, .commit), upload)
    } else {
      again(ref, .commit)
    }
  }

  /// Sends the next step, or the same one again, as soon as a connection is free.
  ///
  /// - Parameter first: whether the step precedes others of its kind.
  mutating func again(_ ref: ItemRef, _ kind: Step.Kind, first: Bool = false) {
    if stop == nil {
      enqueue(first ? readyFirst(ref, kind, retries: 0) : ready(ref, kind))
    } else {
      leave(ref, stopReason)
    }
  }
}
