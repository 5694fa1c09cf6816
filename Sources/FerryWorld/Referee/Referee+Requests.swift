import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for sending a request.
extension Referee {
  mutating func check(_ call: Call, _ reply: Reply, _ machine: VirtualMachine) {
    let ref = call.attempt.ref
    let step = step(call)
    let name = "\(call.step.rawValue) of \(name(ref, machine))"
    let session = plan.sessions[step.session.index]
    requests[ref, default: 0] += 1
    if ref.item != nil, let count = requests[ref], count > 100 {
      report(.busyLoop, "\(name) is request \(count) of the item in a launch")
    }
    if let reason = tooEarly(call) { report(.interval, "\(name) \(reason)") }
    let isDiscretionary = isDiscretionary(ref, session, machine)
    if let reason = forbids(session, isDiscretionary) { report(.network, "\(name) was sent \(reason)") }
    let others = flights.values.reduce(0) { sum, flight in
      let isSameHost = flight.session == step.session && self.step(flight.call).origin == step.origin
      return sum + (isSameHost ? flight.call.attempt.connections : 0)
    }
    let connections = others + call.attempt.connections
    if connections > session.maxConnectionsPerHost {
      report(.connections, "\(name) uses connection \(connections) of \(session.name) to one host")
    }
    checkSegments(call, others, session, name)
    checkLaunch(call, step, name)
    checkTime(call, name)
    checkJournal(call, reply, step, name, machine)
    if call.step == .transfer {
      checkCreation(call, reply, name)
      checkPart(call, name)
    }
    if case .response = reply.answer, let id = reply.uploadID {
      let key = FileUploadID(node: ref.node.index, id: id)
      parts[key] = Parts(offset: 0, isListed: true)
      if case .response(let response) = reply.answer { expiries[key] = response.uploadExpires }
    }
    if call.step == .abandon { checkRelease(call, name, machine) }
    checkDelay(call, name, machine)
    checkPriority(call, step, name, machine)
    if call.step == .token, flights.values.contains(where: { $0.call.attempt.ref == ref }) {
      report(.token, "\(name) is fetched twice at once")
    }
    if let refusals = refusals[ref], refusals.step == call.step, refusals.count > 2, call.step != .token {
      report(.token, "\(name) is sent again after \(refusals.count) refusals")
    }
    if case .request(let work) = plan.nodes[ref.node.index].work { checkNeeds(ref, work, name, machine) }
    checkBudget(call, name, isDiscretionary)
    flights[call.attempt.id] = Flight(call: call, session: step.session, isDiscretionary: isDiscretionary)
    guard ref.item != nil, begun.insert(ref).inserted, let limit = options.limit else { return }
    if begun.count > limit { report(.limit, "\(name) was started beyond --limit \(limit)") }
  }

  /// Checks that a download gets the connections of `segments` that are free, and no other request more than one. The
  /// documents of known size in a world have less than 8 MiB, which are requested over one connection.
  private mutating func checkSegments(_ call: Call, _ others: Int, _ session: SessionPlan, _ name: String) {
    let allowed =
      step(call).kind.storesDocument ? plan.nodes[call.attempt.ref.node.index].document?.segments ?? 1 : 1
    let wanted = call.attempt.isUnconditional || call.fileSize > 0 ? 1 : allowed
    guard call.attempt.connections != max(1, min(wanted, session.maxConnectionsPerHost - others)) else {
      return
    }
    report(
      .connections, "\(name) may use \(call.attempt.connections) connections, but its node allows \(wanted)")
  }

  /// Checks the deadline. Except for items, `timeout_for_resource` is counted from the first request in the
  /// launch.
  private mutating func checkTime(_ call: Call, _ name: String) {
    let ref = call.attempt.ref
    guard let deadline = call.attempt.deadline else { return report(.resource, "\(name) has no deadline") }
    if now >= deadline { report(.resource, "\(name) was sent after its deadline") }
    guard ref.item == nil else { return }
    let begun = begunAt[ref] ?? now
    begunAt[ref] = begun
    let timeout = plan.sessions[plan.nodes[ref.node.index].session.index].timeoutForResource
    if deadline != begun.advanced(by: timeout) {
      report(.resource, "\(name) has until \(deadline), but was started at \(begun)")
    }
  }

  /// Checks that work that failed at its time limit had used all of the time.
  mutating func checkRunOut(_ ref: ItemRef, _ machine: VirtualMachine) {
    let timeout = plan.sessions[plan.nodes[ref.node.index].session.index].timeoutForResource
    guard ref.item == nil, let begun = begunAt[ref], now < begun.advanced(by: timeout) else { return }
    report(.resource, "\(name(ref, machine)) ran out of time before \(timeout) had passed")
  }

  /// Checks that an item which failed temporarily ends only if requests have failed for the whole time, and not in this
  /// launch alone.
  mutating func checkGivenUp(_ ref: ItemRef, _ machine: VirtualMachine) {
    let timeout = plan.sessions[plan.nodes[ref.node.index].session.index].timeoutForResource
    guard ref.item != nil else { return }
    if let since = failingSince, since < startedAt, now >= since.advanced(by: timeout) { return }
    report(.resource, "\(name(ref, machine)) ended after a temporary failure before \(timeout) had passed")
  }

  func forbids(_ session: SessionPlan, _ isDiscretionary: Bool) -> String? {
    if conditions.network == .none { return "without a network" }
    if conditions.network == .cellular, !session.allowsCellular { return "on a cellular network" }
    let isPaid = conditions.isExpensive || conditions.network == .cellular
    if isPaid, !session.allowsExpensive { return "on a metered network" }
    if isDiscretionary, conditions.power == .battery { return "on battery" }
    return nil
  }

  /// Whether a task of the session is discretionary. In a background session, a task is inferred to be
  /// discretionary unless it was queued in or before a foreground launch.
  func isDiscretionary(_ ref: ItemRef, _ session: SessionPlan, _ machine: VirtualMachine) -> Bool {
    switch session.discretionary {
    case .yes: return true
    case .no: return false
    case .inferred:
      return session.kind == .background && options.launch != .foreground
        && plan.nodes[ref.node.index].kind != .token
        && (ref.item == nil || !inForeground.contains(key(ref, machine)))
    }
  }

  private mutating func checkLaunch(_ call: Call, _ step: Step, _ name: String) {
    let session = plan.sessions[step.session.index]
    if let deadline = options.deadline, now >= deadline { report(.deadline, "\(name) was sent after it") }
    if stoppedAt != nil { report(.stop, "\(name) was sent after a signal") }
    if session.kind != .background, let windowEndsAt {
      if now >= windowEndsAt { report(.window, "\(name) was sent after the window's end") }
      let count = flights.values.count { plan.sessions[$0.session.index].kind != .background }
      if count >= 1_000 { report(.window, "\(name) is one of more than 1000 requests in a window") }
    }
    let node = plan.nodes[call.attempt.ref.node.index]
    // The upload ID of a canceled item is released.
    guard node.kind != .token, call.step != .abandon, let finishing = cancelled[node.session] else { return }
    if !finishing {
      report(.cancel, "\(name) was sent after ferry cancel")
    } else if case .upload = node.work, call.step != .commit, call.step != .probe,
      !begun.contains(call.attempt.ref)
    {
      // An item that an earlier launch has transferred begins with its commit.
      report(.cancel, "\(name) was started after ferry cancel --finish")
    }
  }

  private mutating func checkJournal(
    _ call: Call, _ reply: Reply, _ step: Step, _ name: String, _ machine: VirtualMachine
  ) {
    let ref = call.attempt.ref
    if call.step == .commit, let record = transferred[ref], record > synced {
      report(.commitAfterSync, "\(name) was sent before the record of its transfer was on disk")
    }
    if call.step == .commit { checkCommit(call, reply, step, name) }
    if step.repeatability == .startsOver { checkStart(call, reply, name) }
    if let record = allocated[ref], record > synced, isSentUnderNewID(call) {
      report(.intent, "\(name) was sent before its upload ID was on disk")
    }
    guard step.repeatability == .once || call.step == .commit else { return }
    if call.step == .transfer, call.uploadID != nil, case .upload(let work) = plan.nodes[ref.node.index].work,
      work.transfersOnceToResource
    {
      // The upload resource shows what to send, but only as long as it exists.
      if call.attempt.operation.range != nil, !hasIntent(call, machine) {
        report(.intent, "\(name) was sent without an intent in the journal")
      }
      return
    }
    guard isIntended(ref, machine) else {
      return report(.intent, "\(name) was sent before its intent was on disk")
    }
    guard step.repeatability == .once else { return }
    // An intent remains unused only if its request certainly did not reach the server.
    if case .failure(let failure) = reply.answer, !failure.mayHaveReachedServer { return }
    intents[ref] = nil
  }

  private func isSentUnderNewID(_ call: Call) -> Bool {
    guard call.step == .transfer, call.uploadID != nil,
      case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work
    else { return false }
    return step(call).repeatability == .repeatable && work.commit == nil
      && (work.allocate != nil || work.transferProtocol.machine?.repeatsCreation == true)
  }

  private func hasIntent(_ call: Call, _ machine: VirtualMachine) -> Bool {
    let rows = machine.journal.items[call.attempt.ref.node.index]
    return (0..<rows.count).contains {
      rows.files.path($0).elementsEqual(call.pathBytes) && rows.known($0).intent != nil
    }
  }

  /// Checks that a transfer that must start over is not sent twice under the same upload ID, unless the first
  /// transfer certainly did not reach the server or its token was rejected.
  private mutating func checkStart(_ call: Call, _ reply: Reply, _ name: String) {
    guard let id = call.uploadID else { return }
    let key = FileUploadID(node: call.attempt.ref.node.index, id: id)
    if usedIDs.contains(key) { report(.nothingTwice, "\(name) was sent again under ID \(id)") }
    switch reply.answer {
    case .failure(let failure) where !failure.mayHaveReachedServer: break
    case .response(let response) where response.status == 401: break
    case .failure, .response: usedIDs.insert(key)
    }
  }

  /// Checks that a released upload ID does not belong to an item that may still use it.
  private mutating func checkRelease(_ call: Call, _ name: String, _ machine: VirtualMachine) {
    let rows = machine.journal.items[call.attempt.ref.node.index]
    guard let id = call.uploadID else { return report(.release, "\(name) has no upload ID") }
    let users = (0..<rows.count).filter {
      rows.uploadID($0) == id && [.allocated, .transferred, .ambiguous].contains(rows.states[$0])
    }
    if !users.isEmpty { report(.release, "\(name) releases the ID \(id), which is in use") }
  }

  /// Whether an intent from this launch, or from the launch that began the item, is on disk.
  private func isIntended(_ ref: ItemRef, _ machine: VirtualMachine) -> Bool {
    if let intent = intents[ref] { return intent <= synced }
    guard let item = ref.item else { return false }
    return machine.scheduler.withItems(of: ref.node) { $0.begun[item]?.intent == .commit } ?? false
  }

  /// Checks that a commit with a probe is not repeated before the probe has shown that the commit was not
  /// executed.
  private mutating func checkCommit(_ call: Call, _ reply: Reply, _ step: Step, _ name: String) {
    let key = FileKey(node: call.attempt.ref.node.index, path: Array(call.pathBytes))
    if step.repeatability == .afterProbe, unknownCommits.contains(key) {
      report(.nothingTwice, "\(name) is sent again before its probe has completed")
    }
    if case .failure(let failure) = reply.answer, !failure.mayHaveReachedServer { return }
    wasUnknown[key] = unknownCommits.contains(key)
    unknownCommits.insert(key)
  }

  /// Updates the known outcome of a commit. Only a status that results from the request itself is
  /// conclusive. A server or gateway that failed cannot report the outcome, a redirect may come from a
  /// server that acted, and an invalid status is meaningless.
  mutating func learnOfCommit(_ call: Call, _ result: AttemptResult) {
    let key = FileKey(node: call.attempt.ref.node.index, path: Array(call.pathBytes))
    guard case .response(let response) = result.answer, unknownCommits.contains(key) else { return }
    switch (call.step, response.status) {
    case (.commit, 200...299): unknownCommits.remove(key)
    case (.commit, 500), (.commit, 502), (.commit, 504), (.commit, 303), (.commit, 699): break
    case (.commit, _): if wasUnknown[key] == false { unknownCommits.remove(key) }
    case (.probe, let status): if isConclusive(status), !response.isUnreadable { unknownCommits.remove(key) }
    default: break
    }
  }

  /// Whether the status of a probe shows that the commit was executed or not. A status is inconclusive if it
  /// only rejects the client or is temporary.
  private func isConclusive(_ status: Int) -> Bool {
    switch status {
    case 401, 403, 407, 408, 425, 429: false
    case 200...299, 400...499: true
    default: false
    }
  }

  private mutating func checkNeeds(
    _ ref: ItemRef, _ work: RequestWork, _ name: String, _ machine: VirtualMachine
  ) {
    if takesFailedFetchForSuccess(ref, work.when) {
      report(.needs, "\(name) was sent although a fetch that it needs has failed and is not due")
    }
    for need in plan.nodes[ref.node.index].needs where plan.nodes[need.index].kind.hasItems {
      // If the node is skipped in this launch, its items begun by an earlier launch remain for the next
      // round.
      if machine.scheduler.nodeRecords[need.index].state == .skipped { continue }
      let rows = machine.journal.items[need.index]
      let needed = (0..<rows.count).filter {
        !late.contains(FileKey(node: need.index, path: Array(rows.files.path($0))))
      }
      let open = needed.filter {
        !rows.states[$0].isClosed && rows.known($0).round == machine.round
      }
      if !open.isEmpty {
        report(.needs, "\(name) was sent while \(open.count) items that it needs were open")
      }
      let failed = needed.contains {
        rows.known($0).round == machine.round && [.failed, .cancelled].contains(rows.states[$0])
          || rows.states[$0] == .ambiguous
      }
      if failed, work.when == .succeeded {
        report(.needs, "\(name) was sent although a node that it needs has failed")
      }
    }
  }

  // MARK: Permanent effects

  /// Counts a permanent effect on the server, which must happen only once.
  mutating func count(_ effect: ServerEffect) {
    let node = plan.nodes[effect.node]
    guard effect.step != .abandon else {
      return report(.release, "a released upload ID of \(node.name) belongs to a delivered file")
    }
    let step = node.steps.first { $0.kind == effect.step }
    guard effect.step == .commit || step?.repeatability == .once else {
      hasEffect.insert(FileKey(node: effect.node, path: effect.path))
      return
    }
    let key = FileKey(node: effect.node, path: effect.path)
    effects[key, default: 0] += 1
    hasEffect.insert(key)
    if let count = effects[key], count > 1 {
      report(
        .nothingTwice, "\(effect.step.rawValue) of \(node.name)/\(text(key)) is executed \(count) times")
    }
  }

  func text(_ key: FileKey) -> String { String(decoding: key.path, as: UTF8.self) }

  mutating func close(_ ref: ItemRef, _ state: ItemState, _ machine: VirtualMachine) {
    guard ref.item != nil else { return }
    let key = key(ref, machine)
    if !ended.insert(ref).inserted { report(.requests, "\(name(ref, machine)) is closed twice") }
    if state == .done, case .upload(let work) = plan.nodes[ref.node.index].work,
      work.commit == nil || partsOf[ref] != nil
    {
      checkWhole(ref, machine)
    }
    if state == .failed || state == .cancelled, unknownCommits.contains(key) {
      report(.nothingTwice, "\(name(ref, machine)) is \(state), but its commit may have been executed")
    }
    unknownCommits.remove(key)
    lostCreations.remove(key)
    states[key]?.state = state
    batches[ref.node.index]?.open.remove(ref)
  }
}

extension AttemptResult {
  /// Whether there is no response, or its status is an error.
  var hasFailed: Bool {
    switch answer {
    case .response(let response): response.status >= 400
    case .failure: true
    }
  }
}
