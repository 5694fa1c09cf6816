import FerryManifest

/// Transfers that send several requests for one file at the same time.
///
/// While requests of an item are being sent, no step of the item waits in a queue. A failed request has no consequences
/// before the others have ended: the item then continues as if only the most serious failure had occurred.
extension Scheduler {
  /// Records that one of several requests of a transfer is being sent.
  mutating func begin(_ attempt: Attempt, on hostQueue: Int) {
    let ref = attempt.ref
    guard let machine = machine(of: ref) else { return }
    self[attempts: ref]?.requestsInFlight += 1
    guard machine.parallelRequests > 1, var state = progress(of: ref)?.transfer else { return }
    machine.begin(attempt.operation, in: &state, size: fileSize(of: ref))
    change(ref, .updateTransfer(state))
    offerFurther(ref, on: hostQueue)
  }

  private mutating func offerFurther(_ ref: ItemRef, on hostQueue: Int) {
    guard !hostQueues[hostQueue].parallel.contains(ref), hasFurther(ref) else { return }
    hostQueues[hostQueue].parallel.append(ref)
  }

  /// Whether another request for the item's file can be sent now, in addition to the requests in progress.
  private func hasFurther(_ ref: ItemRef) -> Bool {
    guard let machine = machine(of: ref), let attempts = self[attempts: ref],
      let progress = progress(of: ref),
      let state = progress.transfer, attempts.postponed.isEmpty, !attempts.isInterrupted,
      (1..<machine.parallelRequests).contains(attempts.requestsInFlight)
    else { return false }
    return machine.hasFurther(state, size: fileSize(of: ref))
  }

  /// Starts a further request for a file that already has requests in progress. Returns whether a request was
  /// started.
  mutating func startFurther(on hostQueue: Int) -> Bool {
    while let ref = hostQueues[hostQueue].parallel.first {
      guard hasFurther(ref), mayStartFurther(ref, on: hostQueue) else {
        // The item is offered again when one of its requests has ended.
        hostQueues[hostQueue].parallel.removeFirst()
        continue
      }
      guard !isPreceded(ref, on: hostQueue) else { return false }
      hostQueues[hostQueue].parallel.removeFirst()
      guard coversFurther(ref) else { continue }
      start(ready(ref, .transfer), on: hostQueue)
      return true
    }
    return false
  }

  /// Whether a further request can be sent immediately, so that starting it neither waits nor ends the item.
  private func mayStartFurther(_ ref: ItemRef, on hostQueue: Int) -> Bool {
    guard now < deadline(of: ref), !isHeld(ref, on: hostQueue), hasToken(for: step(ref.node, .transfer))
    else {
      return false
    }
    return progress(of: ref)?.uploadID?.expires.map { now < $0 } ?? true
  }

  /// Whether work of a higher priority, or the commit of another file, can use the connection.
  private func isPreceded(_ ref: ItemRef, on hostQueue: Int) -> Bool {
    guard let upload = uploadIndex[ref.node.index] else { return false }
    let priority = uploads[upload].priority
    if let top = hostQueues[hostQueue].intended.min {
      if top.priority < priority || top.priority == priority && top.step != .transfer { return true }
    }
    if let top = hostQueues[hostQueue].ready.min {
      if top.priority < priority { return true }
      // A commit whose intent is not on disk cannot use the connection.
      if top.priority == priority, [.commit, .probe].contains(top.step), !needsIntent(top) { return true }
    }
    return eligibleSource(hostQueue).map { uploads[$0].priority < priority } ?? false
  }

  /// Handles the end of an attempt. Returns the result that now has consequences; `nil` while other requests for the same
  /// file are being sent.
  mutating func landed(_ landing: Landing) -> Landing? {
    let (ref, flight) = (landing.flight.attempt.ref, landing.flight)
    guard flight.attempt.operation != .whole, let attempts = self[attempts: ref] else { return landing }
    self[attempts: ref]?.requestsInFlight -= 1
    guard attempts.requestsInFlight > 1 else {
      self[attempts: ref]?.postponed = []
      self[attempts: ref]?.isInterrupted = false
      return judged(attempts.postponed + [landing])
    }
    // After an interruption, no further request starts, even if this one has completed.
    if landing.verdict == .partial, flight.interruption == nil {
      self[attempts: ref]?.replacements = 0
      offerFurther(ref, on: flight.hostQueue)
    } else {
      self[attempts: ref]?.postponed.append(landing)
      if landing.verdict.endsUpload { supersede(ref) }
    }
    return nil
  }

  /// The most serious of the results of requests for one file. A cancellation by the user applies to all of them.
  private func judged(_ landings: [Landing]) -> Landing? {
    var judged = landings.max { $0.verdict.severity < $1.verdict.severity }
    for landing in landings {
      if case .cancelled = landing.flight.interruption {
        judged?.flight.interruption = landing.flight.interruption
      }
    }
    return judged
  }

  /// Stops the other requests for a file, which have become useless.
  private mutating func supersede(_ ref: ItemRef) {
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where flight.attempt.ref == ref && flight.interruption == nil {
      interrupt(id, .superseded)
    }
  }
}

extension Verdict {
  /// The severity of the verdict, compared with verdicts on other requests that were sent at the same time
  /// for one file.
  fileprivate var severity: Int {
    switch self {
    case .succeeded, .partial, .unchanged: 0
    // The reason for the interruption has its own verdict, or stops the launch.
    case .cancelled: 1
    case .transient, .limited, .conditionRefused, .notCommitted: 2
    case .unauthorized: 3
    case .uploadIDGone, .uploadIDRefused, .otherServer: 4
    case .answerLost, .permanent, .integrity: 5
    }
  }

  /// Whether the data that the other requests send under the upload ID has become useless.
  fileprivate var endsUpload: Bool { severity >= 4 }
}
