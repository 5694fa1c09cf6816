import FerryManifest

/// What the end of an attempt leads to.
extension Scheduler {
  mutating func finish(_ result: AttemptResult) {
    guard let flight = flights.removeValue(forKey: result.id) else {
      preconditionFailure("attempt \(result.id) ends once, after it was started")
    }
    let place = flight.attempt.place
    lanes[flight.lane].inFlight -= 1
    let step = step(place.node, flight.attempt.step)
    let refreshStatuses: [Int] =
      if let token = step.token, case .token(let work) = plan.nodes[token.index].work {
        work.refresh.onStatus
      } else {
        []
      }
    let verdict = step.judge(
      result.answer, refreshStatuses: refreshStatuses,
      hasUploadID: self[progress: place]?.hasUploadID ?? false)
    tally.count(flight.attempt.step, result, verdict)
    if flight.attempt.step == .transfer, verdict != .succeeded {
      gate?.sendsAgain(place, bytes: result.traffic.bodySent)
    }
    if flight.attempt.step == .transfer, verdict == .succeeded { sample(place.node, result) }
    switch verdict {
    case .transient(_, _, .host, _), .cancelled: break
    case .succeeded, .unchanged, .conditionRefused, .unauthorized, .uploadIDGone, .transient, .permanent,
      .answerLost, .notCommitted, .integrity, .limited:
      // An answer to a request from before the host failed tells nothing of it now.
      if flight.startedAt >= lanes[flight.lane].waveEnded ?? flight.startedAt {
        lanes[flight.lane].failures = 0
        lanes[flight.lane].resumeAt = nil
      }
    }
    if let trouble = verdict.failure {
      let entry = Trouble(
        step: flight.attempt.step, code: trouble.code, status: trouble.status, message: trouble.message,
        endedAt: now, duration: result.duration)
      self[progress: place]?.troubles.append(entry)
    }
    switch step.kind {
    case .token: finishToken(flight, result, verdict)
    case .abandon: finishRelease(flight, step, result.answer, verdict)
    case .allocate, .transfer, .commit, .probe, .fetch, .request: finish(flight, step, result, verdict)
    }
  }

  private mutating func sample(_ node: NodeID, _ result: AttemptResult) {
    guard let upload = uploadIndex[node.index], result.traffic.bodySent > uploads[upload].largest?.bytes ?? 0
    else { return }
    uploads[upload].largest = TransferSample(bytes: result.traffic.bodySent, duration: result.duration)
  }

  private mutating func finish(_ flight: Flight, _ step: Step, _ result: AttemptResult, _ verdict: Verdict) {
    let place = flight.attempt.place
    spendIntent(place, step, verdict)
    learnOfCommit(place, step, verdict)
    learnWhetherItCounts(place, step, result.answer, verdict)
    if flight.interruption == .cancelled, goesOn(place, step, after: verdict) {
      // It ended by itself before it could be cancelled.
      return end(place, .cancelled, .cancelled)
    }
    switch verdict {
    case .succeeded, .unchanged: succeed(place, step, result, verdict)
    case .conditionRefused(let failure):
      guard self[progress: place]?.isUnconditional == false else { return end(place, .failed, failure) }
      self[progress: place]?.isUnconditional = true
      again(place, flight.attempt.step)
    case .unauthorized(let failure):
      let replacements = (self[progress: place]?.replacements ?? 0) + 1
      self[progress: place]?.replacements = replacements
      if replacements > 2 {
        note(.authorization, of: place.node)
        end(place, .failed, failure)
      } else {
        let isNews =
          step.token.map { invalidate(token: $0, generation: flight.attempt.tokenGeneration) } ?? false
        replace(flight, isNews: isNews)
      }
    case .uploadIDGone(let failure) where self[progress: place]?.isCommitUnknown == true:
      end(place, .failed, failure)
    case .uploadIDGone(let failure):
      tally.idsExpired += 1
      let wasSent = self[progress: place]?.isSent == true
      releaseUploadID(place, nil)
      if wasSent, stop == nil, startsNoSooner(session(of: place.node)) != nil {
        // Its transfer is a new one.
        return enqueueCreated(place, .allocate)
      }
      retry(flight, failure, retryAfter: nil, scope: .item, as: .allocate, atOnce: true)
    case .transient(let failure, let retryAfter, let scope, let effect):
      var kind = flight.attempt.step
      if step.repeatability == .startsOver, effect != .notSent {
        releaseUploadID(place, .startedOver)
        kind = .allocate
      }
      retry(flight, failure, retryAfter: retryAfter, scope: scope, as: kind)
    case .permanent(let failure): end(place, .failed, failure)
    case .integrity(let failure):
      note(.integrity, of: place.node)
      end(place, .failed, failure)
    case .answerLost(let failure) where step.repeatability == .afterProbe:
      retry(flight, failure, retryAfter: nil, scope: .item, as: .probe)
    case .notCommitted: again(place, .commit)
    case .answerLost(let failure):
      end(
        place, .ambiguous,
        .init(
          code: "answer_lost", status: failure.status,
          message: "\(step.kind.rawValue) may have been carried out: \(failure.message)"))
    case .limited(let failure):
      gate?.release(place)
      guard stop == nil, isGated(place.node) else { return leave(place, failure) }
      let waiter = ready(place, flight.attempt.step)
      gate?.waiters.append(waiter)
    case .cancelled(let reachedServer): interrupted(flight, step, reachedServer)
    }
  }

  /// Whether another request follows.
  private func goesOn(_ place: Place, _ step: Step, after verdict: Verdict) -> Bool {
    switch verdict {
    case .succeeded, .unchanged:
      guard case .upload(let work) = plan.nodes[place.node.index].work else { return false }
      return step.kind == .allocate || (step.kind == .transfer && work.commit != nil)
    case .conditionRefused, .unauthorized, .uploadIDGone, .transient, .notCommitted, .limited: return true
    case .answerLost: return step.repeatability == .afterProbe
    case .permanent, .integrity, .cancelled: return false
    }
  }

  /// A request that ferry itself ended.
  private mutating func interrupted(_ flight: Flight, _ step: Step, _ reachedServer: Bool) {
    let place = flight.attempt.place
    let startsOver = step.repeatability == .startsOver && reachedServer
    switch flight.interruption {
    case .cancelled: end(place, .cancelled, .cancelled)
    case .conditions where stop == nil:
      if startsOver { releaseUploadID(place, .startedOver) }
      again(place, startsOver ? .allocate : step.kind == .commit ? commitKind(of: place) : step.kind)
    case .expired, .conditions, nil:
      if startsOver {
        orphanUploadID(of: place, .startedOver)
        entries.append(.released(place))
      }
      leave(place, flight.interruption == .expired ? .expired : stopReason)
    }
  }

  /// The transfer was cancelled for a refused token: a new one with the new token takes its place, and its upload
  /// ID. To the resume delay it is new, and the first refusal of a token a resume.
  private mutating func replace(_ flight: Flight, isNews: Bool) {
    let place = flight.attempt.place
    guard stop == nil, flight.attempt.step == .transfer, hasResumes(session(of: place.node)) else {
      return again(place, flight.attempt.step)
    }
    if isNews { resume(session(of: place.node)) }
    self[progress: place]?.step = .transfer
    enqueueCreated(place, .transfer)
  }

  private mutating func succeed(_ place: Place, _ step: Step, _ result: AttemptResult, _ verdict: Verdict) {
    guard case .response(let response) = result.answer else { return }
    for (kind, origin) in response.origins {
      let later = self.step(place.node, kind)
      let lane = lane(later.session, origin)
      if later.repeatability == .once { lanes[lane].needsIntents = true }
      self[progress: place]?.lanes[kind] = lane
    }
    self[progress: place]?.replacements = 0
    switch step.kind {
    case .allocate:
      guard case .upload(let work) = plan.nodes[place.node.index].work else { return }
      let bound = work.validFor.map { now.advanced(by: $0) }
      let expires = [bound, response.expires].compactMap { $0 }.min()
      self[progress: place]?.expires = expires
      self[progress: place]?.hasUploadID = true
      tally.idsAllocated += 1
      regain(response.regained, of: place.node)
      entries.append(.allocated(place, expires: expires))
      again(place, .transfer)
    case .transfer:
      guard case .upload(let work) = plan.nodes[place.node.index].work, work.commit != nil else {
        return end(place, .done, nil)
      }
      entries.append(.transferred(place))
      finishTransfer(place)
    case .commit, .probe, .request: end(place, .done, nil)
    case .fetch:
      guard case .fetch(let work) = plan.nodes[place.node.index].work else { return }
      let result: FetchResult = verdict == .unchanged ? .noData : .newData
      nodes[place.node.index].fetchResult = result
      nodes[place.node.index].interval = work.interval.next(
        after: result, kept: nodes[place.node.index].interval)
      end(place, .done, nil)
    case .token, .abandon: break
    }
  }

  /// An intent that an attempt carried is spent, unless the attempt certainly stayed at home, or may have been
  /// carried out.
  private mutating func spendIntent(_ place: Place, _ step: Step, _ verdict: Verdict) {
    // A probe asks about the commit, whose intent it leaves alone.
    guard step.kind != .probe else { return }
    switch verdict {
    case .transient(_, _, _, .notSent), .transient(_, _, _, .unknown), .answerLost, .cancelled: break
    case .transient(_, _, _, .refused), .unauthorized:
      // This attempt was refused: a later launch must not take it for a lost answer. An earlier one may be one.
      guard self[progress: place]?.isCommitUnknown != true else { break }
      if self[progress: place]?.intent == .recorded { withdrawIntent(of: place) }
      self[progress: place]?.intent = .none
    case .succeeded, .unchanged, .conditionRefused, .uploadIDGone, .permanent, .notCommitted, .integrity,
      .limited:
      self[progress: place]?.intent = .none
    }
  }

  /// What an attempt tells of a commit. Once one may have been carried out, only a success, or the probe, tells
  /// more: what is refused afterwards may be refused because it was carried out.
  private mutating func learnOfCommit(_ place: Place, _ step: Step, _ verdict: Verdict) {
    switch (step.kind, verdict) {
    case (.commit, .answerLost), (.commit, .transient(_, _, _, .unknown)),
      (.commit, .cancelled(reachedServer: true)):
      self[progress: place]?.isCommitUnknown = true
    case (.probe, .notCommitted): self[progress: place]?.isCommitUnknown = false
    default: break
    }
  }

  /// The commit, or the question whether it was carried out.
  func commitKind(of place: Place) -> Step.Kind {
    let hasProbe = step(place.node, .commit).repeatability == .afterProbe
    return hasProbe && self[progress: place]?.isCommitUnknown == true ? .probe : .commit
  }

  /// In the background the commit waits until the batch is through.
  private mutating func finishTransfer(_ place: Place) {
    guard let upload = uploadIndex[place.node.index], let item = place.item else { return }
    passTransfer(item, of: upload)
    releaseReservation(place)
    if stop == nil, hasResumes(session(of: place.node)) {
      keepUntilThrough(place, upload)
    } else {
      again(place, .commit)
    }
  }

  /// The next step, or the same one anew, as soon as a connection is free.
  private mutating func again(_ place: Place, _ kind: Step.Kind) {
    self[progress: place]?.step = kind
    if stop == nil {
      enqueue(place, kind)
    } else {
      leave(place, stopReason)
    }
  }
}
