import FerryManifest

/// Nodes: opening them, starting their batches, and closing them.
extension Scheduler {
  mutating func addNode(_ id: NodeID, _ start: NodeStart, keptInterval: Duration?) {
    let node = plan.nodes[id.index]
    var state = NodeState(phase: .waiting)
    switch start {
    case .notSelected: state.phase = .notSelected
    case .open: break
    case .closed(let outcome, let failure):
      state.phase = .closed(outcome)
      state.failure = failure
      state.endedBefore = true
    case .notDue(let until, let failed):
      state.notBefore = until
      state.failure = failed?.reason
      state.phase = failed.map { $0.isOpen ? .left($0.reason) : .closed(.failed) } ?? .closed(.succeeded)
      if failed?.isOpen == true { note(.temporary, of: id) }
    case .switchedOff:
      state.phase = .closed(.succeeded)
      state.failure = .init(code: .never, message: "the interval of the fetch is 'never'")
    case .stored: (state.phase, state.failure) = (.closed(.succeeded), .stored)
    case .notStored: (state.phase, state.failure) = (.closed(.failed), .notStored)
    case .left(let reason):
      state.phase = .left(reason)
      note(.temporary, of: id)
    case .skipped(let counts, let reason):
      uploadIndex[id.index] = uploads.count
      var upload = upload(id, node, ItemTable(), Reconciliation.Settled())
      upload.counts = counts
      upload.remaining = reason
      uploads.append(upload)
    case .intended:
      state.intent = .inherited
    case .upload(let items, let settled):
      uploadIndex[id.index] = uploads.count
      uploads.append(upload(id, node, items, settled))
    case .submissions:
      state.phase = .notSelected
      uploadIndex[id.index] = uploads.count
      uploads.append(upload(id, node, ItemTable(), Reconciliation.Settled()))
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
      node: id, items: items, listedCount: items.count, priority: Self.rank(of: work.priority),
      tally: LifecycleCounts(open: items.count), rules: ItemRules(work, recorded: items.countingPoint),
      tokens: node.deliverySteps.compactMap { $0.token?.index })
    state.counts.unchanged = settled.delivered - settled.doneInRound
    state.counts.done = settled.doneInRound
    state.counts.failed = settled.failedInRound + settled.unlisted
    state.counts.cancelled = settled.cancelledInRound
    state.counts.ambiguous = settled.ambiguous
    let transferLimit = plan.sessions[work.transfer.session.index].maxConnectionsPerHost
    let others = [work.allocate, work.commit].compactMap {
      $0.map { plan.sessions[$0.session.index].maxConnectionsPerHost }
    }
    state.window = 2 * transferLimit + others.reduce(0, +)
    state.aheadLimit = transferLimit
    hostQueues[hostQueue(work.first.session, work.first.origin)].sources.append(uploads.count)
    return state
  }

  /// Converts a priority from 0.0 to 1.0 (higher goes first) to a rank (lower goes first).
  static func rank(of priority: Double) -> UInt16 {
    UInt16(65_535 - (min(max(priority, 0), 1) * 65_535).rounded())
  }

  /// Opens the nodes that no longer wait for others, and closes nodes that will not run. Returns whether a
  /// node changed.
  ///
  /// A launch that is stopping does not open nodes, but still closes nodes that will not run.
  @discardableResult
  mutating func openNodes() -> Bool {
    var hasChanged = settleNodes()
    for index in nodes.indices {
      guard case .waiting = nodes[index].phase, tokens[index] == nil else { continue }
      guard let met = needsMet(index), stop == nil || !met, !(met && isListing(index)) else { continue }
      hasChanged = true
      if met {
        open(index)
      } else {
        close(
          index, .skipped,
          .init(code: .needs, message: "the outcomes of its 'needs' do not satisfy its 'when'"))
      }
    }
    return hasChanged
  }

  /// Closes the nodes whose outcomes are now on disk. Returns whether a node changed.
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

  /// Whether the outcomes of the node's needs satisfy its `when`; `nil` while one of these needs has not
  /// ended.
  func needsMet(_ index: Int) -> Bool? {
    var outcomes: [NodeOutcome] = []
    for need in plan.nodes[index].needs {
      switch nodes[need.index].phase {
      case .closed(let outcome):
        let isExcused = plan.isOptional(need) && (outcome == .failed || outcome == .ambiguous)
        outcomes.append(isExcused ? .succeeded : outcome)
      case .notSelected: continue
      case .waiting, .open, .finished, .settling, .left: return nil
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
      if let reason = uploads[upload].remaining {
        uploads[upload].leaveSkipped()
        nodes[index].phase = .left(reason)
        return note(.temporary, of: id)
      }
      if followsCompletedBatch(upload) {
        uploads[upload].isHandled = true
        return owe(.batch(upload), session(of: id))
      }
      handOver(upload)
      return closeIfThrough(upload)
    }
    if nodes[index].intent == .inherited {
      return end(ItemRef(id), .ambiguous, .interruptedRequest)
    }
    let kind = plan.nodes[index].steps[0].kind
    nodes[index].attempts = AttemptHistory()
    enqueueCreated(ItemRef(id), kind)
  }

  /// Starts the next batch: as many items as `max_items` and `max_bytes` allow.
  mutating func handOver(_ upload: Int) {
    let node = uploads[upload].node
    guard case .upload(let work) = plan.nodes[node.index].work else { return }
    let start = uploads[upload].handedOver
    guard start < uploads[upload].items.count else { return }
    let end = work.batch.end(from: start, sizes: uploads[upload].items.files.sizes)
    let session = session(of: node)
    uploads[upload].queue(until: end)
    uploads[upload].isHandled = false
    let ready = delay(start..<end, of: upload, until: startsNoSooner(session))
    for item in start..<end where uploads[upload].items.handedOver[item] == ItemTable.notHandedOver {
      uploads[upload].items.handedOver[item] = now.nanoseconds
    }
    if options.launch == .foreground { noteForeground() }
    let free = holdDiscretionary(ready, of: upload)
    uploads[upload].pending.append(free)
    entries.append(.itemsQueued(node, items: start..<end, at: now))
    uploads[upload].queuedBy = sequence
    let isBackground = plan.sessions[session.index].kind == .background
    if isBackground {
      // Items of an earlier batch may still wait for their sync.
      if uploads[upload].heldUntil <= synced { uploads[upload].heldFrom = start }
      uploads[upload].heldUntil = sequence
    }
    if isBackground || uploads[upload].list.hasMore { actions.append(.sync) }
  }

  /// Defers the new items of a batch until the resume delay ends. Returns the items that may start now: those
  /// that were queued before the last resume, or all items if there is no delay.
  private mutating func delay(_ batch: Range<Int>, of upload: Int, until start: Instant?) -> PendingItems {
    guard let start, let resumedAt = sessions[session(of: uploads[upload].node).index].delay.resumedAt else {
      return PendingItems(batch)
    }
    var (delayed, ready) = (PendingItems(), PendingItems())
    for item in batch {
      let handedOver = uploads[upload].items.handedOver[item]
      if handedOver == ItemTable.notHandedOver || handedOver >= resumedAt.nanoseconds {
        delayed.append(item..<(item + 1))
      } else {
        ready.append(item..<(item + 1))
      }
    }
    if !delayed.isEmpty { uploads[upload].delayed = (delayed, start) }
    return ready
  }

  /// Called after an item ends: starts the next batch, or ends the node.
  mutating func closeIfThrough(_ upload: Int) {
    // Further files belong to the same batch.
    guard !uploads[upload].list.hasMore else { return }
    if uploads[upload].tally.batch == 0 {
      let session = session(of: uploads[upload].node)
      // In a background session, completions are handled at a resume.
      guard
        uploads[upload].isHandled || uploads[upload].handedOver == 0 || !hasResumes(session) || stop != nil
      else { return }
      if uploads[upload].handedOver > 0 { recordCompletedBatch(session) }
      if stop == nil { handOver(upload) }
    } else {
      passSkipped(of: upload)
    }
    // This runs for each item, and the state of an upload is large: only its counts are copied.
    let node = uploads[upload].node.index
    guard uploads[upload].tally.open == 0, case .open = nodes[node].phase else { return }
    let counts = uploads[upload].counts
    if counts.waiting > 0 {
      nodes[node].phase = .left(
        .init(
          code: .itemsRemaining,
          message: "\(Count.text(counts.waiting, "item")) remaining for a later run"))
      return
    }
    let outcome: NodeOutcome =
      if counts.ambiguous > 0 {
        .ambiguous
      } else if counts.failed + counts.cancelled > 0 {
        .failed
      } else {
        .succeeded
      }
    settle(node, outcome)
  }

  /// Starts the next batch if the only remaining items of the current batch are those for which the budget is
  /// too small, because these items may wait for a long time.
  mutating func passSkipped(of upload: Int) {
    let skipped = uploads[upload].skipped.count + queryCount(of: upload)
    guard stop == nil, skipped > 0, uploads[upload].tally.batch == skipped,
      uploads[upload].isHandled || uploads[upload].sent.isEmpty
        || !hasResumes(session(of: uploads[upload].node))
    else { return }
    handOver(upload)
  }

  /// Records that a batch of the session has completed.
  mutating func recordCompletedBatch(_ session: SessionID) {
    guard plan.sessions[session.index].kind == .background, !plan.sessions[session.index].onEvents.isEmpty
    else { return }
    entries.append(.batchCompleted(session))
  }

  /// Ends the node. The nodes that wait for it start once its outcome is on disk.
  mutating func settle(_ index: Int, _ outcome: NodeOutcome) {
    if entries.isEmpty, synced >= recorded {
      nodes[index].phase = .closed(outcome)
    } else {
      nodes[index].phase = .settling(sequence: entries.isEmpty ? recorded : sequence, outcome)
      actions.append(.sync)
    }
  }

  /// Ends a node with a single request. In a background session, a resume handles its completion.
  mutating func finishNode(_ index: Int, _ outcome: NodeOutcome, _ failure: RecordedFailure?) {
    let session = plan.nodes[index].session
    recordCompletedBatch(session)
    guard hasResumes(session), stop == nil else { return close(index, outcome, failure) }
    close(index, outcome, failure, handledLater: true)
    owe(.node(index, outcome), session)
  }

  mutating func close(
    _ index: Int, _ outcome: NodeOutcome, _ failure: RecordedFailure?, handledLater: Bool = false
  ) {
    if outcome == .skipped, nodes[index].intent == .inherited {
      // An earlier launch may have sent the request.
      return end(ItemRef(NodeID(index)), .ambiguous, .interruptedRequest)
    }
    nodes[index].failure = failure
    let state: ItemState =
      switch outcome {
      case .succeeded: .done
      case .failed: .failed
      case .ambiguous: .ambiguous
      case .skipped: .cancelled
      }
    if uploadIndex[index] == nil {
      entries.append(.itemClosed(ItemRef(NodeID(index)), state, failure, at: now))
    }
    if let upload = uploadIndex[index], outcome == .skipped {
      uploads[upload].skipRest()
    }
    if handledLater { nodes[index].phase = .finished(outcome) } else { settle(index, outcome) }
  }
}

extension RecordedFailure {
  /// The reason why a request or fetch counts as succeeded after a decision of the user.
  package static let resolved = RecordedFailure(
    code: .resolved, message: "ferry resolve recorded that it was executed")
  /// The reason for the outcome of a single request for which an interrupted launch left an intent in the journal.
  package static let interruptedRequest = RecordedFailure(
    code: .responseLost, message: "a launch was interrupted after the request may have been sent")
}
