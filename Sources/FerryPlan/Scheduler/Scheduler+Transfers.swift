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

  private func machine(of ref: ItemRef) -> (any TransferMachine)? {
    uploadIndex[ref.node.index].flatMap { uploads[$0].rules.transferProtocol.machine }
  }

  /// The listed size of an item's file, in bytes.
  package func fileSize(of ref: ItemRef) -> Int64 {
    guard let item = ref.item, let upload = uploadIndex[ref.node.index] else { return 0 }
    return uploads[upload].items.files.sizes[item]
  }

  /// Continues a transfer after a response.
  ///
  /// - Parameter offset: the offset that the response states; `nil` if the server has completed the upload.
  mutating func proceed(_ flight: Flight, _ step: Step, _ result: AttemptResult, to offset: Int64?) {
    let ref = flight.attempt.ref
    guard let machine = machine(of: ref), var state = progress(of: ref)?.transfer else { return }
    let outcome = machine.apply(
      offset, of: flight.attempt.operation, to: &state, size: fileSize(of: ref))
    change(ref, .updateTransfer(state))
    // Only bytes that the server never had before, under any upload ID, reset the count of retries. Otherwise, a server
    // that loses bytes repeatedly would never exhaust them.
    if state.confirmedOffset > self[attempts: ref]?.greatestOffset ?? 0 {
      self[attempts: ref]?.greatestOffset = state.confirmedOffset
      self[attempts: ref]?.retries = 0
    }
    switch outcome {
    case .complete: succeed(ref, step, result, .succeeded)
    case .proceeds:
      self[attempts: ref]?.replacements = 0
      guard stop == nil else { return leave(ref, stopReason) }
      // The next part precedes other transfers. Otherwise, several large files would share the time of a launch, and none
      // might complete in it.
      enqueue(readyFirst(ref, .transfer, retries: 0))
    case .stalled(let message):
      let failure = RecordedFailure(code: .unexpectedResponse, message: message)
      retry(flight, failure, retryAfter: nil, scope: .item)
    case .contradicts(let message):
      end(ref, .failed, .init(code: .unexpectedResponse, message: message))
    }
  }

  /// After a request that may have stored bytes without a response, the server is asked for its offset.
  mutating func noteLoss(of flight: Flight, _ verdict: Verdict) {
    let ref = flight.attempt.ref
    guard case .send = flight.attempt.operation, var state = progress(of: ref)?.transfer else { return }
    switch verdict {
    case .succeeded, .offset, .unauthorized, .transient(_, _, _, .notSent), .cancelled(reachedServer: false):
      break
    case .unchanged, .conditionRefused, .uploadIDGone, .uploadIDRefused, .otherServer, .transient, .permanent,
      .answerLost, .notCommitted, .integrity, .cancelled, .limited:
      state.isUncertain = true
      change(ref, .updateTransfer(state))
    }
  }

  /// Counts the file's bytes in one of several requests of a transfer: as useful if the response confirms them. Bytes
  /// without a response become useful if a later response confirms them.
  mutating func count(_ flight: Flight, _ result: AttemptResult, _ verdict: Verdict) {
    let ref = flight.attempt.ref
    let sent = result.traffic.bodySent
    guard let before = progress(of: ref)?.transfer?.confirmedOffset, self[attempts: ref] != nil else {
      return
    }
    let confirmed: Int64 =
      switch verdict {
      case .succeeded: fileSize(of: ref)
      case .offset(let offset): offset
      default: before
      }
    let unconfirmed = (self[attempts: ref]?.unconfirmedBytes ?? 0) +| sent
    let useful = max(0, min(confirmed - before, unconfirmed))
    metrics.countPart(sent: sent, useful: useful)
    self[attempts: ref]?.unconfirmedBytes =
      confirmed == before && verdict != .offset(before) ? unconfirmed : 0
    self[attempts: ref]?.usefulBytes +|= useful
    if sent > useful, let gate = gate(of: ref) { gates[gate].sendsAgain(ref, bytes: sent - useful) }
  }
}
