import FerryManifest

/// Nodes: opening, handing over, closing.
extension Scheduler {
  mutating func addNode(_ id: NodeID, _ start: NodeStart, keptInterval: Duration?) {
    let node = plan.nodes[id.index]
    var state = NodeState(phase: .waiting)
    switch start {
    case .notSelected: state.phase = .notSelected
    case .open: break
    case .closed(let outcome):
      state.phase = .closed(outcome)
      state.endedBefore = true
    case .notDue(let until):
      state.phase = .closed(.succeeded)
      state.notBefore = until
    case .switchedOff:
      state.phase = .closed(.succeeded)
      state.failure = .init(code: "never", message: "its interval is never")
    case .intended:
      state.progress = Progress(step: node.steps[0].kind)
      state.progress?.intent = .inherited
    case .upload(let items, let settled):
      uploadIndex[id.index] = uploads.count
      uploads.append(upload(id, node, items, settled))
    }
    if case .token = node.work { tokens[id.index] = TokenState() }
    if case .fetch(let work) = node.work { state.interval = work.interval.present(kept: keptInterval) }
    nodes.append(state)
  }

  private mutating func upload(
    _ id: NodeID, _ node: Node, _ items: ItemTable, _ settled: Reconciliation.Settled
  ) -> UploadState {
    guard case .upload(let work) = node.work else { preconditionFailure("only uploads have items") }
    var state = UploadState(
      node: id, items: items, priority: Self.rank(of: work.priority), open: items.count)
    state.counts.unchanged = settled.delivered - settled.doneInRound
    state.counts.done = settled.doneInRound
    state.counts.failed = settled.failedInRound
    state.counts.cancelled = settled.cancelledInRound
    state.counts.ambiguous = settled.ambiguous
    let transferLimit = plan.sessions[work.transfer.session.index].maxConnectionsPerHost
    let others = [work.allocate, work.commit].compactMap {
      $0.map { plan.sessions[$0.session.index].maxConnectionsPerHost }
    }
    state.window = 2 * transferLimit + others.reduce(0, +)
    state.aheadLimit = transferLimit
    state.isHeld = plan.hold(on: node, under: options.conditions) != nil
    lanes[lane(work.first.session, work.first.origin)].sources.append(uploads.count)
    return state
  }

  /// 0.0 … 1.0, higher first, as an order in which lower goes first.
  static func rank(of priority: Double) -> UInt16 {
    UInt16(65_535 - (min(max(priority, 0), 1) * 65_535).rounded())
  }

  /// Opens what nothing holds back any more; true where a node changed. A launch that stops opens nothing, and
  /// still closes what will not run.
  @discardableResult
  mutating func openNodes() -> Bool {
    var hasChanged = settleNodes()
    for index in nodes.indices {
      guard case .waiting = nodes[index].phase, tokens[index] == nil else { continue }
      guard let met = needsMet(index), stop == nil || !met else { continue }
      hasChanged = true
      if met {
        open(index)
      } else {
        close(index, .skipped, .init(code: "needs", message: "what it needs did not end as it asks"))
      }
    }
    return hasChanged
  }

  /// Outcomes that are on disk now.
  @discardableResult
  mutating func settleNodes() -> Bool {
    var hasChanged = false
    for index in nodes.indices {
      if case .settling(let sequence, let outcome) = nodes[index].phase, synced >= sequence {
        nodes[index].phase = .closed(outcome)
        hasChanged = true
      }
    }
    return hasChanged
  }

  /// Whether what the node needs ended as it asks; `nil` while something has not ended.
  func needsMet(_ index: Int) -> Bool? {
    var outcomes: [NodeOutcome] = []
    for need in plan.nodes[index].needs {
      switch nodes[need.index].phase {
      case .closed(let outcome): outcomes.append(outcome)
      case .notSelected: continue
      case .waiting, .open, .settling, .left: return nil
      }
    }
    let when: SingleRequest.When =
      if case .request(let work) = plan.nodes[index].work { work.when } else { .succeeded }
    switch when {
    case .always: return true
    case .succeeded: return outcomes.allSatisfy { $0 == .succeeded }
    case .failed: return outcomes.contains { $0 == .failed || $0 == .ambiguous }
    }
  }

  private mutating func open(_ index: Int) {
    nodes[index].phase = .open
    let id = NodeID(index)
    if let upload = uploadIndex[index] {
      handOver(upload)
      closeIfThrough(upload)
      return
    }
    if nodes[index].progress?.intent == .inherited {
      end(
        Place(id), .ambiguous,
        .init(code: "answer_lost", message: "a launch was interrupted after it may have been sent"))
      return
    }
    let kind = plan.nodes[index].steps[0].kind
    nodes[index].progress = Progress(step: kind)
    enqueue(Place(id), kind)
  }

  /// Hands the next batch over: as much as `max_items` and `max_bytes` allow.
  mutating func handOver(_ upload: Int) {
    let state = uploads[upload]
    guard case .upload(let work) = plan.nodes[state.node.index].work else { return }
    let start = state.pending.upperBound
    guard start < state.items.count else { return }
    let end = work.batch.end(from: start, sizes: state.items.files.sizes)
    uploads[upload].pending = start..<end
    uploads[upload].batchOpen = end - start
    for item in start..<end where state.items.handedOver[item] == ItemTable.notHandedOver {
      uploads[upload].items.handedOver[item] = now.nanoseconds
    }
    entries.append(.handedOver(state.node, items: start..<end, at: now))
    if plan.sessions[plan.nodes[state.node.index].session.index].kind == .background {
      uploads[upload].heldUntil = sequence
      actions.append(.sync)
    }
  }

  /// After an item ended: the next batch, or the node's end.
  mutating func closeIfThrough(_ upload: Int) {
    if uploads[upload].batchOpen == 0 { handOver(upload) }
    let state = uploads[upload]
    guard state.open == 0, case .open = nodes[state.node.index].phase else { return }
    if state.counts.waiting > 0 {
      nodes[state.node.index].phase = .left(
        .init(code: "items_left", message: "\(state.counts.waiting) items are left for a later launch"))
      return
    }
    let outcome: NodeOutcome =
      if state.counts.ambiguous > 0 {
        .ambiguous
      } else if state.counts.failed + state.counts.cancelled > 0 {
        .failed
      } else {
        .succeeded
      }
    settle(state.node.index, outcome)
  }

  /// The node ended; what waits for it starts once that is on disk.
  mutating func settle(_ index: Int, _ outcome: NodeOutcome) {
    if entries.isEmpty, synced >= recorded {
      nodes[index].phase = .closed(outcome)
    } else {
      nodes[index].phase = .settling(sequence: entries.isEmpty ? recorded : sequence, outcome)
      actions.append(.sync)
    }
  }

  mutating func close(_ index: Int, _ outcome: NodeOutcome, _ failure: RecordedFailure?) {
    nodes[index].failure = failure
    let state: ItemState =
      switch outcome {
      case .succeeded: .done
      case .failed: .failed
      case .ambiguous: .ambiguous
      case .skipped: .cancelled
      }
    if uploadIndex[index] == nil { entries.append(.closed(Place(NodeID(index)), state, failure, at: now)) }
    if let upload = uploadIndex[index], outcome == .skipped {
      // Its files stay for the next round, in which it may run.
      uploads[upload].counts.cancelled += uploads[upload].open
      uploads[upload].open = 0
    }
    settle(index, outcome)
  }

  /// The launch ends: whatever has not ended is left for a later one.
  mutating func leaveTheRest() {
    for upload in uploads.indices where uploads[upload].open > 0 {
      uploads[upload].counts.waiting += uploads[upload].open
      uploads[upload].open = 0
    }
    for index in nodes.indices {
      guard case .open = nodes[index].phase else { continue }
      let hold = plan.hold(on: plan.nodes[index], under: options.conditions)
      let reason = hold ?? reasonForWaiting(index)
      if hold != nil { tally.isDeferred = true }
      if reason == .maxDuration { tally.isCutOff = true }
      nodes[index].phase = .left(reason)
    }
  }

  private func reasonForWaiting(_ index: Int) -> RecordedFailure {
    for step in plan.nodes[index].steps {
      if let token = step.token, case .failed(let failure) = tokens[token.index]?.phase { return failure }
      if let lane = laneIndex[.init(session: step.session, origin: step.origin)],
        let failure = lanes[lane].givenUp
      {
        return failure
      }
    }
    if let limit = options.limit, begunCount >= limit {
      return .init(code: "limit", message: "--limit \(limit) is reached")
    }
    return stop == nil ? .init(code: "waiting", message: "waiting") : stopReason
  }

  /// Whether every node of the plan has ended in this round.
  package var isRoundThrough: Bool {
    nodes.indices.allSatisfy { index in
      switch nodes[index].phase {
      case .closed: true
      case .notSelected, .waiting, .open, .settling, .left: tokens[index] != nil
      }
    }
  }
}
