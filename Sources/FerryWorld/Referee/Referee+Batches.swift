import FerryManifest
import FerryPlan
import FerrySimulation

/// The rules for batches, delays, priorities and windows.
extension Referee {
  /// The items of an upload in all batches that were started in this launch.
  struct Batch {
    /// Items that are not closed.
    var open: Set<ItemRef> = []
    /// The time before which each item must not start.
    var notBefore: [ItemRef: Instant] = [:]
    /// The record that must be on disk before each item starts.
    var records: [ItemRef: UInt64] = [:]
  }

  /// A session's resume delay according to the rules.
  struct Delay: Equatable {
    var period: Duration
    var resumedAt: Instant?

    var end: Instant? { resumedAt?.advanced(by: period) }
  }

  mutating func handOver(_ node: NodeID, _ range: Range<Int>, _ machine: VirtualMachine) {
    let session = plan.nodes[node.index].session
    let isBackground = plan.sessions[session.index].kind == .background
    for item in range {
      let ref = ItemRef(node, item)
      let entry = machine.scheduler.withItems(of: node) { $0.entries[item] } ?? .continuing
      if !(batches[node.index, default: Batch()].open.insert(ref).inserted) || ended.contains(ref) {
        report(.nothingTwice, "\(name(ref, machine)) is queued twice")
      }
      batches[node.index]?.records[ref] = isBackground ? recorded : 0
      if options.launch == .foreground {
        inForeground.insert(key(ref, machine))
      } else if entry != .continuing {
        inForeground.remove(key(ref, machine))
      }
      if [.new, .requeued, .changed].contains(entry) { requeue(ref, node, machine) }
      guard isDelayed(session, .beforeStart), let delay = delays[session], let end = delay.end else {
        continue
      }
      // Items queued before the last resume are not delayed.
      let handedOver = machine.scheduler.withItems(of: node) { $0.handedOver[item] } ?? 0
      if entry == .continuing, let resumedAt = delay.resumedAt, handedOver < resumedAt.nanoseconds {
        continue
      }
      batches[node.index]?.notBefore[ref] = end
    }
  }

  /// Handles a file that is queued again: its earlier effects on the server no longer count. Reports a
  /// violation if the file or its commit may already have been executed.
  private mutating func requeue(_ ref: ItemRef, _ node: NodeID, _ machine: VirtualMachine) {
    let key = key(ref, machine)
    let size = machine.scheduler.withItems(of: node) { $0.files.sizes[ref.item ?? 0] } ?? 0
    let modified = machine.scheduler.withItems(of: node) { $0.files.modified[ref.item ?? 0] } ?? 0
    if let known = states[key], known.state == .failed, known.size == size, known.modified == modified,
      effects[key, default: 0] > 0
    {
      report(.nothingTwice, "\(name(ref, machine)) failed although it was executed, and is queued again")
    }
    if unknownCommits.contains(key) {
      report(
        .nothingTwice, "\(name(ref, machine)) is queued again, but its commit may have been executed")
    }
    effects[key] = 0
    states[key] = (.queued, size, modified)
  }

  private func isDelayed(_ session: SessionID, _ policy: ResumeDelay.Policy) -> Bool {
    options.launch != .foreground && plan.sessions[session.index].kind == .background
      && plan.policies.resumeDelay.policy == policy
  }

  // MARK: The resume delay

  mutating func resume(_ session: SessionID, _ state: ResumeState) {
    let before = delays[session]
    let policy = plan.policies.resumeDelay
    delays[session] = Delay(period: state.period, resumedAt: state.resumedAt)
    guard options.launch != .foreground else {
      if state.resumedAt != nil { report(.resumeDelay, "a foreground launch resumes") }
      return
    }
    if let before, let resumedAt = before.resumedAt, resumedAt > now, now == startedAt {
      // The clock was ahead: the delay begins now.
      delaysAtLaunch[session] = delays[session]
      if state != ResumeState(period: before.period, resumedAt: now) {
        report(.resumeDelay, "the resume at \(resumedAt) became \(state)")
      }
      return
    }
    if policy.policy == .none { return report(.resumeDelay, "a resume with the policy 'none'") }
    // Each resume has its own window.
    if let length = plan.policies.executionWindow.resume, let end = windowEndsAt {
      windowEndsAt = max(end, now.advanced(by: length))
    }
    var expected = policy.initial
    if let before, let end = before.end, before.period > .zero,
      policy.reset == .foreground || now <= end.advanced(by: before.period)
    {
      expected = .seconds(fraction: before.period.seconds * policy.factor)
    }
    expected = min(expected, policy.max)
    if state.period != expected { report(.resumeDelay, "the period is \(state.period), not \(expected)") }
    if policy.policy == .afterCompletion, let end = before?.end, now < end, stoppedAt == nil,
      cancelled[session] == nil
    {
      report(.resumeDelay, "something was handled \(now.duration(to: end)) before the delay's end")
    }
  }

  mutating func checkDelay(_ call: Call, _ name: String, _ machine: VirtualMachine) {
    let ref = call.attempt.ref
    let node = plan.nodes[ref.node.index]
    guard isDelayed(node.session, .beforeStart), cancelled[node.session] == nil, call.step != .abandon else {
      return
    }
    if let end = batches[ref.node.index]?.notBefore[ref], now < end {
      report(.resumeDelay, "\(name) was sent \(now.duration(to: end)) before the delay's end")
    }
    if ref.item == nil, node.kind != .token, let end = delaysAtLaunch[node.session]?.end, now < end,
      delays[node.session] == delaysAtLaunch[node.session]
    {
      report(.resumeDelay, "\(name) was sent \(now.duration(to: end)) before the delay's end")
    }
  }

  // MARK: Priorities

  /// Checks that no upload of a higher priority had an item ready to begin in the same host queue.
  mutating func checkPriority(_ call: Call, _ step: Step, _ name: String, _ machine: VirtualMachine) {
    let ref = call.attempt.ref
    guard ref.item != nil, !begun.contains(ref), options.limit == nil,
      call.step != .commit, call.step != .probe,
      case .upload(let own) = plan.nodes[ref.node.index].work, cancelled.isEmpty
    else { return }
    // In a background session, the record that queues an item must be on disk before the item may begin.
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let other) = node.work, other.priority > own.priority,
        other.first.session == step.session, other.first.origin == step.origin, isSimple(other),
        !isGated(NodeID(index)), let batch = batches[index]
      else { continue }
      let unbegun = batch.open.filter {
        !begun.contains($0) && now >= batch.notBefore[$0] ?? now && batch.records[$0] ?? 0 <= synced
          && isFirstOf(other, $0, machine)
          && forbids(
            plan.sessions[step.session.index],
            isDiscretionary($0, plan.sessions[step.session.index], machine)) == nil
      }
      guard let first = unbegun.first else { continue }
      report(.priority, "\(name) was sent while \(self.name(first, machine)) was ready")
    }
  }

  /// Whether the upload's items wait only for a free connection.
  func isSimple(_ work: UploadWork) -> Bool {
    work.allocate == nil && work.commit == nil && work.transfer.token == nil
      && work.transfer.repeatability == .repeatable && work.transferProtocol == .whole
  }

  private func isFirstOf(_ work: UploadWork, _ ref: ItemRef, _ machine: VirtualMachine) -> Bool {
    machine.scheduler.withItems(of: ref.node) { $0.begun[ref.item ?? 0] == nil } ?? false
  }

  // MARK: The execution window

  /// Checks that all requests of default sessions are canceled at the end of the window, and have ended a
  /// second later.
  mutating func endWindow(_ machine: VirtualMachine) {
    // The scheduler can act only when it receives an event.
    let hasEvent = machine.trace.contains { if case .event = $0 { true } else { false } }
    guard let windowEndsAt, now >= windowEndsAt, hasEvent, !machine.isDead else { return }
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where plan.sessions[flight.session.index].kind != .background {
      let name = "\(flight.call.step.rawValue) of \(name(flight.call.attempt.ref, machine)) (\(id))"
      if !flight.isCancelled {
        report(.window, "\(name) continues after the window's end")
      } else if now > windowEndsAt.advanced(by: .seconds(1)) {
        report(.window, "\(name) has not ended a second after the window")
      }
    }
  }
}
