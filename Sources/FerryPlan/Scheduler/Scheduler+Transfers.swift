import FerryManifest

/// Transfers that send their file in several requests. Their protocol determines the requests (`TransferMachine`).
extension Scheduler {
  /// The part of a transfer that its next request performs.
  func operation(of ready: Ready) -> TransferOperation {
    guard ready.step == .transfer, let machine = machine(of: ready.ref),
      let state = progress(of: ready.ref)?.transfer
    else { return .whole }
    return machine.next(state, size: fileSize(of: ready.ref))
  }

  /// Whether an item's file is delivered by its commit, and not by its transfer.
  func hasCommit(_ ref: ItemRef) -> Bool {
    guard let upload = uploadIndex[ref.node.index] else { return false }
    return uploads[upload].rules.commit != nil
      && !uploads[upload].rules.transferProtocol.isDeliveredByTransfer(size: fileSize(of: ref))
  }

  func machine(of ref: ItemRef) -> (any TransferMachine)? {
    uploadIndex[ref.node.index].flatMap { uploads[$0].rules.transferProtocol.machine }
  }

  /// Whether the upload ID of the item stands for several resources at the server.
  func hasSeveralResources(_ ref: ItemRef) -> Bool {
    machine(of: ref).map { $0.resourceCount(size: fileSize(of: ref)) > 1 } ?? false
  }

  /// The listed size of an item's file, in bytes.
  package func fileSize(of ref: ItemRef) -> Int64 {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return 0 }
    return uploads[upload].items.files.sizes[item]
  }

  /// The size of the document of an item of a download batch; `nil` for any other work, and if the list does not state
  /// it.
  package func documentSize(of ref: ItemRef) -> Int64? {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index], isDownload(ref.node) else {
      return nil
    }
    return uploads[upload].items.files.documentSize(item)
  }

  /// Applies the result of a request to its transfer, which sends the file in several requests, and counts
  /// the request's bytes.
  ///
  /// - Returns: the verdict on the transfer: `succeeded` if the server has the whole file, and `partial` if another request
  ///   follows.
  mutating func follow(_ flight: Flight, _ result: AttemptResult, _ verdict: Verdict) -> Verdict {
    let ref = flight.attempt.ref
    guard let machine = machine(of: ref), var state = progress(of: ref)?.transfer else { return verdict }
    let before = state.confirmedOffset
    let isRefused = isRefused(result) && state.confirmedOffset == 0
    if isRefused, let end = sentEnd(flight.attempt.operation, result) {
      state.refusedThrough = max(state.refusedThrough, end)
    }
    state.requestEnd = sentEnd(flight.attempt.operation, result, isRefused: isRefused)
    machine.end(flight.attempt.operation, in: &state, size: fileSize(of: ref))
    if let end = state.requestEnd { state.sentThrough = state.sentThrough.map { max($0, end) } }
    var followed = verdict
    switch verdict {
    case .partial, .succeeded:
      if case .response(let response) = result.answer {
        followed = apply(response.transfer, flight, machine, &state)
      }
    // The server has not stored bytes of such a request.
    case .unauthorized, .transient(_, _, _, .notSent), .cancelled(reachedServer: false): break
    case .unchanged, .conditionRefused, .uploadIDGone, .uploadIDRefused, .otherServer, .transient, .permanent,
      .answerLost, .notCommitted, .integrity, .cancelled, .limited:
      machine.lose(flight.attempt.operation, in: &state, size: fileSize(of: ref))
      if flight.attempt.operation.range != nil, mayHaveEnded(verdict, result, machine),
        mayComplete(flight, result), hasSentAll(flight, result)
      {
        state.mayBeComplete = true
      }
    }
    state.requestEnd = nil
    if machine.mayForgetCompleted, case .response(let response) = result.answer,
      case .damaged = response.transfer
    {
      // The server has stated the completion in a way that ferry does not accept.
      state.mayBeComplete = true
    }
    // Releasing an upload that may belong to another file could delete that file.
    if machine.asksAfterLoss, case .response(let response) = result.answer, case .foreign = response.transfer
    {
      change(ref, .doubt(.possible))
    }
    if case .response(let response) = result.answer, let limit = response.limit { state.limit = limit }
    if followed == .partial, let conflict = state.limit?.conflict(size: fileSize(of: ref)) {
      followed = .permanent(.init(code: .unexpectedResponse, message: conflict))
    }
    if followed == .partial, case .response(let response) = result.answer {
      let stated = statedExpiry(response, flight, machine, &state)
      change(ref, .updateTransfer(state))
      if let stated { update(expiry: stated, of: ref) }
    } else {
      change(ref, .updateTransfer(state))
    }
    let resource = machine.resourceNumber(of: flight.attempt.operation, size: fileSize(of: ref))
    count(flight, result, followed, confirmedBefore: before, resource)
    releaseReservation(of: flight, sent: result.traffic.bodySent)
    if state.confirmedOffset < before { countLost(before - state.confirmedOffset, ref) }
    // Only bytes that the server never had before, under any upload ID, reset the count of retries.
    // Otherwise, a server that loses bytes repeatedly would never exhaust the retries.
    let advance = state.confirmedOffset - (self[attempts: ref]?.greatestOffset ?? 0)
    // A query shows how much of a failed request the server has stored.
    let least = flight.attempt.operation.isSending ? 1 : Self.leastAdvance
    if followed == .partial, advance >= least {
      self[attempts: ref]?.greatestOffset = state.confirmedOffset
      self[attempts: ref]?.retries = 0
    }
    return followed
  }

  /// The number of bytes by which failed requests must advance a transfer so that its retries are counted from 0 again.
  private static let leastAdvance: Int64 = 64 << 10

  /// The end of the last byte of the file that a request has sent, and that the server can have stored; `nil` for a request
  /// without bytes of the file.
  ///
  /// - Parameter isRefused: whether only the bytes sent before a resend count.
  private func sentEnd(
    _ operation: TransferOperation, _ result: AttemptResult, isRefused: Bool = false
  ) -> Int64? {
    guard let range = operation.range else { return nil }
    let sent: Int64 =
      switch result.answer {
      case .response where isRefused: result.sentBeforeResend
      case .failure(let failure) where !failure.mayHaveReachedServer: 0
      case .response, .failure: result.sentInLastHop ?? .max
      }
    return range.lowerBound + min(range.upperBound - range.lowerBound, sent)
  }

  /// The expiry of the item's upload ID according to a response; `nil` if it states none. Partial uploads expire
  /// separately, and none of them is useful without the others.
  private func statedExpiry(
    _ response: AttemptResult.Response, _ flight: Flight, _ machine: any TransferMachine,
    _ state: inout TransferState
  ) -> Instant? {
    let stated = [response.uploadExpires, end(of: response.limit)].compactMap(\.self).min()
    guard let stated, !state.partials.isEmpty else { return stated }
    let number = machine.resourceNumber(
      of: flight.attempt.operation, size: fileSize(of: flight.attempt.ref))
    state.partials[number - 1].expires = stated
    return state.partials.compactMap(\.expires).min()
  }

  /// Keeps the expiry that the server states for the item's upload ID. It is never later than `valid_for` allows.
  private mutating func update(expiry stated: Instant, of ref: ItemRef) {
    guard let id = progress(of: ref)?.uploadID,
      case .upload(let work) = plan.nodes[ref.node.index].work
    else { return }
    let expires = work.validFor == nil ? stated : min(stated, id.expires ?? stated)
    // The journal need not record every slightly later expiry, because an expiry that is too early does no
    // harm.
    if let known = id.expires, expires >= known,
      known.duration(to: expires) < min(.seconds(10), now.duration(to: expires) / 10)
    {
      return
    }
    change(ref, .updateUploadID(expires: expires))
  }

  private mutating func apply(
    _ reading: TransferReading, _ flight: Flight, _ machine: any TransferMachine, _ state: inout TransferState
  ) -> Verdict {
    let size = fileSize(of: flight.attempt.ref)
    let progress = machine.apply(reading, of: flight.attempt.operation, to: &state, size: size)
    switch progress {
    case .complete: return .succeeded
    case .proceeds, .stalled:
      guard state.hasResource || state.partials.contains(where: { !$0.isCreated }) else {
        return .permanent(
          .init(
            code: .unexpectedResponse,
            message:
              "the upload is incomplete, and the server has not stated a usable URL of its upload resource"
          ))
      }
      if reading.offset.map({ $0 < size }) == true {
        state.mayBeComplete = false
      }
      if case .stalled(let message) = progress {
        return .transient(
          .init(code: .unexpectedResponse, message: message), retryAfter: nil, scope: .item, effect: .refused)
      }
      return .partial
    case .contradicts(let message):
      // The server may have bytes that this item has not sent, or may have acted on them.
      if machine.asksAfterLoss { change(flight.attempt.ref, .doubt(.possible)) }
      let failure = RecordedFailure(code: .unexpectedResponse, message: message)
      return state.refusedThrough > 0 ? .answerLost(failure) : .permanent(failure)
    }
  }

  /// Whether a response states that the server has another offset, and has stored none of the request's bytes.
  private func isRefused(_ result: AttemptResult) -> Bool {
    if case .response(let response) = result.answer { response.transfer == .refused } else { false }
  }

  /// The bytes of an item's file that were transferred in the present window of the budget, and count as useful.
  func usefulBytesOfWindow(_ ref: ItemRef) -> Int64 {
    self[attempts: ref].map { max(0, $0.usefulBytes - $0.earlierBytes) } ?? 0
  }

  /// Counts bytes that the server has lost. They are sent again.
  private mutating func countLost(_ bytes: Int64, _ ref: ItemRef) {
    let lost = min(bytes, self[attempts: ref]?.usefulBytes ?? 0)
    metrics.startsOver(lost, of: ref.node)
    sendsAgain(ref, bytes: min(bytes, usefulBytesOfWindow(ref)))
    guard let attempts = self[attempts: ref] else { return }
    self[attempts: ref]?.usefulBytes = attempts.usefulBytes - lost
    self[attempts: ref]?.earlierBytes = min(attempts.earlierBytes, attempts.usefulBytes - lost)
  }

  /// Whether the server may have executed a request that did not succeed. If a gateway sends a request twice, and the server
  /// forgets completed uploads, a refusal may concern only the second one.
  private func mayHaveEnded(
    _ verdict: Verdict, _ result: AttemptResult, _ machine: any TransferMachine
  ) -> Bool {
    if result.answer.mayHaveActed { return true }
    guard machine.mayForgetCompleted else { return false }
    return switch verdict {
    case .transient, .uploadIDGone: true
    default: false
    }
  }

  /// Whether the server may have the whole file after this request, according to its result.
  func mayComplete(_ flight: Flight, _ result: AttemptResult) -> Bool {
    if case .response(let response) = result.answer, let offset = response.transfer.offset,
      offset < fileSize(of: flight.attempt.ref)
    {
      return false
    }
    switch flight.attempt.operation {
    case .whole, .queryOffset, .queryPart, .listParts: return true
    case .create(let range), .send(let range):
      guard range.upperBound == fileSize(of: flight.attempt.ref) else { return false }
      // The server has stated that it refuses the file.
      if case .refused = flight.interruption { return hasSentAll(flight, result) }
      return true
    }
  }

  /// Whether all bytes that the request announced were sent. If not, the server cannot have completed a
  /// resumable upload with this request.
  private func hasSentAll(_ flight: Flight, _ result: AttemptResult) -> Bool {
    guard let range = flight.attempt.operation.range else { return true }
    return result.traffic.bodySent >= range.upperBound - range.lowerBound
  }

  // MARK: Upload resources

  /// Handles the upload resource that the server has assigned to a running attempt.
  mutating func assign(_ assignment: ResourceAssignment, to attempt: UInt64) {
    guard let flight = flights[attempt], case .create = flight.attempt.operation,
      let progress = progress(of: flight.attempt.ref), var state = progress.transfer,
      progress.uploadID == nil,
      progress.intent != .inherited
    else { return }
    let ref = flight.attempt.ref
    let stated = [end(of: assignment.limit), assignment.expires] + state.partials.map(\.expires)
    let expires = stated.compactMap { $0 }.min()
    state.limit = assignment.limit ?? state.limit
    metrics.idsAllocated += 1
    change(ref, .updateTransfer(state))
    change(ref, .assignResource(expires: expires))
    regain(assignment.regained)
    route(ref, assignment.origins)
    if let conflict = assignment.limit?.conflict(size: fileSize(of: ref)), flight.interruption == nil {
      interrupt(attempt, .refused(.init(code: .unexpectedResponse, message: conflict)))
    }
  }

  /// The time until which an upload resource remains available according to a limit that a response has just stated.
  private func end(of limit: UploadLimit?) -> Instant? {
    limit?.maxAge.map { now.advanced(by: .seconds(min($0, Self.longestLife))) }
  }

  /// The maximum time for which an upload resource is assumed to remain available, in seconds. A server may state any
  /// number.
  private static let longestLife: Int64 = 10 * 366 * 86_400

  /// The upload ID in an attempt's request. The first request of a resumable upload has none, even if the server has
  /// assigned one in the meantime.
  func uploadID(of flight: Flight) -> ItemProgress.UploadID? {
    if case .create = flight.attempt.operation { return nil }
    return progress(of: flight.attempt.ref)?.uploadID
  }

  /// The step whose rules apply to a result. The response to a completed upload is judged like the response
  /// to the request that the manifest declares.
  func judgedStep(_ flight: Flight, _ answer: AttemptResult.Answer) -> Step {
    if case .response(let response) = answer,
      response.transfer == .completed || response.transfer == .completedEarlier
    {
      return step(flight.attempt.ref.node, flight.attempt.step)
    }
    return step(flight.attempt.ref, flight.attempt.step)
  }

  /// Whether a transfer that must not be repeated has sent the file, so that only its commit remains.
  func hasTransferredOnce(_ item: Int, of upload: Int) -> Bool {
    guard steps[uploads[upload].node, .transfer].step.repeatability == .once else { return false }
    switch uploads[upload].lifecycle(of: item) {
    case .queued(let progress), .begun(let progress): return progress.isTransferred
    case .listed, .remaining: return uploads[upload].items.begun[item]?.state == .transferred
    case .closed: return false
    }
  }

  /// Whether sending the file again from its start might deliver it twice: the server may have completed the
  /// upload, the upload resource does not show whether it has, and the request must not be repeated.
  func mightDeliverTwice(_ ref: ItemRef) -> Bool {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index],
      steps[ref.node, .transfer].step.repeatability == .once, machine(of: ref)?.mayForgetCompleted == true
    else { return false }
    switch uploads[upload].lifecycle(of: item) {
    case .queued(let progress), .begun(let progress): return progress.mayBeComplete
    case .listed, .closed, .remaining: return false
    }
  }

  /// Counts the file's bytes in one of several requests of a transfer: as useful if the response confirms them. Bytes
  /// without a response become useful if a later response confirms them.
  private mutating func count(
    _ flight: Flight, _ result: AttemptResult, _ verdict: Verdict, confirmedBefore before: Int64,
    _ resource: Int
  ) {
    let ref = flight.attempt.ref
    let sent = result.traffic.bodySent
    guard self[attempts: ref] != nil else { return }
    let confirmed: Int64? =
      switch verdict {
      case .succeeded: fileSize(of: ref)
      case .partial: progress(of: ref)?.transfer?.confirmedOffset
      default: nil
      }
    let unconfirmed = (self[attempts: ref]?.unconfirmedBytes[resource] ?? 0) +| sent
    let useful = max(0, min((confirmed ?? before) - before, unconfirmed))
    metrics.countPart(sent: sent, useful: useful, of: ref.node)
    self[attempts: ref]?.unconfirmedBytes[resource] = confirmed == nil ? unconfirmed : nil
    self[attempts: ref]?.usefulBytes +|= useful
    if sent > useful { sendsAgain(ref, bytes: sent - useful) }
  }
}
