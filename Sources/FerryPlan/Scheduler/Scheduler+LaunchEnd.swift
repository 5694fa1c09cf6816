import FerryManifest

/// The end of a launch, and the work that it leaves unfinished.
extension Scheduler {
  /// The time at which `.timer` is due if no other event occurs before; `nil` if only other events can make
  /// progress.
  package var nextWakeup: Instant? {
    var moments: [Instant] = []
    if let next = timers.min?.at { moments.append(next) }
    for index in hostQueues.indices where !isEnding {
      guard let resumeAt = hostQueues[index].resumeAt, resumeAt > now, hostQueues[index].givenUp == nil,
        hostQueues[index].hold == nil
      else {
        continue
      }
      moments.append(resumeAt)
    }
    // A launch that is ending waits only for the disk.
    if stop == nil, !isEnding {
      moments += awaitedMoments
      // The leases of requests in progress move to the next window in time, before other processes lease all of it.
      if !flights.isEmpty { moments += gates.filter { $0.held > 0 }.map(\.windowEnd) }
      if let idleSince, !awaitsLease { moments.append(idleSince.advanced(by: options.patience)) }
    }
    if let stop, stop.cause != .now, !flights.isEmpty { moments.append(stop.cancelAt) }
    if let deadlineAhead { moments.append(deadlineAhead) }
    if let windowEndsAt, !isWindowClosed, !isEnding { moments.append(windowEndsAt) }
    return moments.min()
  }

  /// The times at which delays or a budget's window end, if work is waiting for them.
  var awaitedMoments: [Instant] {
    var moments = sessions.compactMap(\.handlesAt)
    if let creation = creations.min { moments.append(creation.at) }
    // By index: this runs in each turn, and the state of an upload is large.
    for upload in uploads.indices where !uploads[upload].isHeld {
      guard let delayed = uploads[upload].delayed, hasWindow(session(of: uploads[upload].node)) else {
        continue
      }
      moments.append(delayed.until)
    }
    if !gates.isEmpty { moments += awaitedWindows }
    return moments
  }

  /// Ends the launch when all records are on disk, if nothing is running, nothing can start and nothing
  /// waits for a known time.
  mutating func endIfIdle() {
    guard !hasEnded, flights.isEmpty else {
      idleSince = nil
      return
    }
    if isEnding {
      // The remaining work waits for a later launch. Nothing more may start.
    } else if stop == nil {
      guard timers.isEmpty, hostQueues.allSatisfy(\.isIdle), !isAnyNodeBusy
      else {
        idleSince = nil
        return
      }
      // Requesting a lease, as at the start of every window, is not work that would restart the patience
      // period.
      guard !awaitsLease else { return }
      guard !retryPutAside() else {
        idleSince = nil
        return
      }
      guard !releaseIdleReservations() else {
        idleSince = nil
        return
      }
      guard !releaseOrphans() else {
        // A release is work, so the patience period does not expire in the meantime.
        idleSince = nil
        return
      }
      guard !endUnbegun() else {
        idleSince = nil
        return
      }
      guard !isPatient else { return }
    } else if isAnyNodeSettling {
      // Nodes that depend on the settling node may have to be skipped.
      return
    }
    if !isEnding {
      isEnding = true
      leaveTheRest()
    }
    if entries.isEmpty, synced >= recorded {
      hasEnded = true
      actions.append(.end)
    } else {
      actions.append(.sync)
    }
  }

  /// Whether the launch continues to wait because, within its patience, something becomes due or conditions
  /// may change.
  private var isPatient: Bool {
    mutating get {
      guard options.patience > .zero else { return false }
      let since = idleSince ?? now
      let end = since.advanced(by: options.patience)
      let isAwaited = awaitedMoments.contains { $0 <= end }
      guard isAwaited || (now < end && waitsForConditions) else { return false }
      idleSince = since
      return true
    }
  }

  /// Whether a change of conditions would allow work to start. Work whose execution window has ended is excluded.
  private var waitsForConditions: Bool {
    waitsForOtherNetwork
      || uploads.contains {
        hasWindow(session(of: $0.node)) && (($0.isHeld && $0.tally.open > 0) || !$0.held.isEmpty)
      }
      || hostQueues.contains {
        hasWindow($0.key.session) && (($0.hold != nil && $0.hasReadyItems) || $0.hasHeldItems)
      }
  }

  private var isAnyNodeSettling: Bool {
    nodes.contains { if case .settling = $0.phase { true } else { false } }
  }

  private var isAnyNodeBusy: Bool {
    nodes.indices.contains { index in
      switch nodes[index].phase {
      case .settling: return true
      case .open:
        guard let upload = uploadIndex[index] else { return false }
        if uploads[upload].list.hasMore, hasWindow(session(of: NodeID(index))) { return true }
        return !uploads[upload].pending.isEmpty && uploads[upload].heldUntil > synced
      case .waiting: return uploadIndex[index].map { uploads[$0].list == .requested } ?? false
      case .notSelected, .finished, .closed, .left: return false
      }
    }
  }

  /// Stops the launch: steps that are waiting for a connection, a time, an intent or a token remain for a later
  /// launch.
  mutating func leaveWaiting() {
    for ready in takeWaiting(where: { _ in true }).sorted() {
      leave(ready.ref, hold(on: ready.ref) ?? stopReason)
    }
  }

  /// Removes and returns the matching steps that are waiting for a connection, a time, an intent, a token, the
  /// budget, the end of their batch, or a resume.
  mutating func takeWaiting(where isWanted: (Ready) -> Bool) -> [Ready] {
    var waiting: [Ready] = []
    for hostQueue in hostQueues.indices { waiting += hostQueues[hostQueue].take(where: isWanted) }
    for node in tokens.keys {
      waiting += tokens[node]?.waiters.filter(isWanted) ?? []
      tokens[node]?.waiters.removeAll(where: isWanted)
    }
    for gate in gates.indices {
      waiting += gates[gate].waiters.filter(isWanted)
      gates[gate].waiters.removeAll(where: isWanted)
    }
    for upload in uploads.indices {
      let sent = uploads[upload].sent.filter(isWanted)
      guard !sent.isEmpty else { continue }
      uploads[upload].sent.removeAll(where: isWanted)
      waiting += sent
    }
    for session in sessions.indices { waiting += sessions[session].takeRejected(where: isWanted) }
    waiting += (timers.unordered + creations.unordered).map(\.ready).filter(isWanted)
    timers = .init(timers.unordered.filter { !isWanted($0.ready) })
    creations = .init(creations.unordered.filter { !isWanted($0.ready) })
    return waiting
  }

  /// Ends the launch: all work that has not ended remains for a later launch.
  private mutating func leaveTheRest() {
    for index in nodes.indices {
      switch nodes[index].phase {
      case .finished(let outcome):
        nodes[index].phase = .closed(outcome)
        if let until = sessions[plan.nodes[index].session.index].handlesAt, hasWaitingNode {
          note(delay(until: until, NodeID(index)), of: NodeID(index))
        }
      case .open:
        let reason = reasonForWaiting(index)
        note(reason, of: NodeID(index))
        noteFailedTokens(of: NodeID(index))
        // A release may have given up on a host for which only items of the remaining batch wait.
        if plan.nodes[index].deliverySteps.contains(where: { givenUp(to: $0) == reason }) {
          note(.temporary, of: NodeID(index))
        }
        recordFailure(ofFetch: index, reason)
        withdrawIntents(of: NodeID(index))
        nodes[index].phase = .left(reason)
      case .notSelected, .waiting, .settling, .closed, .left: break
      }
    }
    endFailurePeriods()
    for upload in uploads.indices { uploads[upload].leaveRest() }
    if !gates.isEmpty { actions.append(.keepLeases(0)) }
  }

  /// Withdraws the intents of requests that were not sent, because they wait for a budget or for other conditions.
  private mutating func withdrawIntents(of node: NodeID) {
    withdrawIntent(ItemRef(node))
    guard let upload = uploadIndex[node.index] else { return }
    for item in uploads[upload].active.items { withdrawIntent(ItemRef(node, item)) }
  }

  /// Records the effect of failed tokens on the exit code, for a node with remaining work. If a token failed
  /// while only releases were waiting for it, its failure has not affected the exit code yet.
  private mutating func noteFailedTokens(of node: NodeID) {
    for step in plan.nodes[node.index].deliverySteps {
      guard let token = step.token, case .failed(let failure)? = tokens[token.index]?.phase else { continue }
      noteCode(of: failure, of: node)
    }
  }

  /// Records the effect on the exit code of a failure because of which work remains for a later launch.
  mutating func noteCode(of failure: RecordedFailure, of node: NodeID) {
    if failure.code == .token {
      note(.authorization, of: node)
    } else if failure.isTemporary {
      note(.temporary, of: node)
    }
  }

  private var hasWaitingNode: Bool {
    nodes.indices.contains { index in
      if case .waiting = nodes[index].phase { tokens[index] == nil } else { false }
    }
  }

  /// Records the effect of a reason on the launch's exit code.
  mutating func note(_ reason: RecordedFailure, of node: NodeID) {
    if reason == .maxDuration || reason == .expired { note(.cutOff, of: node) }
    guard reason.isDeferral else { return }
    note(.deferred, of: node)
    if let until = reason.until { metrics.deferredUntil = min(metrics.deferredUntil ?? until, until) }
  }

  mutating func note(_ code: ExitCode, of node: NodeID) {
    guard !(plan.isOptional(node) && code.isFailure) else { return }
    metrics.codes[plan.manifest(of: node), default: []].insert(code)
  }

  /// The reason why the remaining work of an open node is waiting. No other code determines this reason.
  package func reasonForWaiting(_ index: Int) -> RecordedFailure {
    if let hold = hold(on: NodeID(index)) ?? holdOfDiscretionary(NodeID(index)) { return hold }
    if let upload = uploadIndex[index], let reason = reasonForWaiting(upload: upload) {
      return reason
    }
    // Check this before the hosts: a release may have given up on a host for which nothing else waits.
    if let creation = creations.unordered.first(where: { $0.ready.ref.node.index == index }) {
      return delay(until: creation.at, NodeID(index))
    }
    if let failure = failureOfSteps(NodeID(index)) { return failure }
    if let reason = budgetReason(where: { $0.node.index == index }) { return reason }
    if let limit = options.limit, begunCount >= limit {
      return .init(code: .limit, message: "--limit \(limit) has been reached")
    }
    return stop == nil ? .init(code: .waiting, message: "waiting") : stopReason
  }

  /// The reason why one of the node's steps cannot start: its token or its host has failed, or conditions do not allow it.
  func failureOfSteps(_ node: NodeID) -> RecordedFailure? {
    for step in plan.nodes[node.index].deliverySteps {
      if let token = step.token {
        switch tokens[token.index]?.phase {
        case .failed(let failure): return failure
        case .fetching: if let failure = obstacle(to: plan.nodes[token.index].steps[0]) { return failure }
        case .absent, .valid, nil: break
        }
      }
      if let failure = obstacle(to: step) { return failure }
    }
    return nil
  }

  /// The reason why no request of this step can start.
  private func obstacle(to step: Step) -> RecordedFailure? {
    hostQueueIndices[.init(session: step.session, origin: step.origin)].flatMap {
      hostQueues[$0].givenUp ?? hostQueues[$0].hold
    }
  }

  /// The reason why ferry has given up on the host of this step.
  private func givenUp(to step: Step) -> RecordedFailure? {
    hostQueueIndices[.init(session: step.session, origin: step.origin)].flatMap { hostQueues[$0].givenUp }
  }

  private func reasonForWaiting(upload index: Int) -> RecordedFailure? {
    let upload = uploads[index]
    if let delayed = upload.delayed { return delay(until: delayed.until, upload.node) }
    let session = sessions[session(of: upload.node).index]
    if !upload.sent.isEmpty || session.hasUnhandled(of: index, upload.node), let until = session.handlesAt {
      return delay(until: until, upload.node)
    }
    guard upload.pending.isEmpty, let least = upload.skipped.min else { return nil }
    return gate(of: ItemRef(upload.node, least.item)).map { gates[$0].reason(least.size) }
  }

  /// Whether every node of the plan has ended in this round.
  package var isRoundThrough: Bool {
    plan.manifests.indices.allSatisfy { isRoundThrough(of: ManifestID($0)) }
  }

  /// Whether every node of a manifest has ended in its round. Each manifest has its own round.
  package func isRoundThrough(of manifest: ManifestID) -> Bool {
    nodes.indices.lazy.filter { plan.nodes[$0].manifest == manifest }.allSatisfy { index in
      switch nodes[index].phase {
      case .closed: true
      case .notSelected, .waiting, .open, .finished, .settling, .left: tokens[index] != nil
      }
    }
  }
}

extension HostQueue {
  /// Whether the queue has steps for which the round waits.
  var hasReadyItems: Bool { ready.unordered.contains { $0.step != .abandon } }

  /// Whether the queue holds discretionary steps for which the round waits.
  var hasHeldItems: Bool { held.contains { $0.ready.step != .abandon } }

  /// Whether nothing in the queue will start without another event.
  var isIdle: Bool {
    guard intending.isEmpty, intended.isEmpty || hold != nil else { return false }
    return ready.isEmpty || hold != nil
  }
}
