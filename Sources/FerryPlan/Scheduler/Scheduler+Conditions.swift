import FerryManifest

/// The machine's network and power source, and the launch's execution window. While they do not allow
/// requests, whole host queues are held.
extension Scheduler {
  /// The reason why a whole node has to wait under the current conditions, regardless of whether its tasks
  /// are inferred to be discretionary.
  func hold(on node: NodeID) -> RecordedFailure? {
    plan.hold(on: plan.nodes[node.index], under: conditions) { isDiscretionary($0, ifOfBackground: false) }
  }

  /// The reason why an item or a single request has to wait under the current conditions.
  func hold(on ref: ItemRef) -> RecordedFailure? {
    plan.hold(on: plan.nodes[ref.node.index], under: conditions) { isDiscretionary(ref, in: $0) }
  }

  /// The reason why all requests of a session have to wait.
  func hold(on session: SessionID) -> RecordedFailure? {
    if isWindowClosed, plan.sessions[session.index].kind != .background { return .expired }
    return plan.sessions[session.index].hold(
      under: conditions, isDiscretionary: isDiscretionary(session, ifOfBackground: false))
  }

  /// Changes the conditions. Requests that are no longer allowed are stopped and wait.
  mutating func change(to new: DeviceConditions) {
    guard new != conditions else { return }
    let hasOtherNetwork = new.network != conditions.network
    conditions = new
    holdHostQueues()
    for upload in uploads.indices { holdItems(of: upload) }
    if hasOtherNetwork { changeGates() }
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where hostQueues[flight.hostQueue].hold != nil || isHeld(flight.attempt.ref, on: flight.hostQueue)
      || (hasOtherNetwork && isPromised(flight))
    {
      // Do not interrupt an unrepeatable step: it has already been sent, and its response is more important
      // than the rule.
      guard flight.interruption == nil, !isOnce(flight) else { continue }
      interrupt(id, .conditions)
    }
  }

  /// Whether the request may be sent only with a reservation of the network's budget. A reservation of
  /// another network's budget is not sufficient.
  private func isPromised(_ flight: Flight) -> Bool {
    flight.attempt.step.traits.budget == .reserves && gate(of: flight.attempt.ref) != nil
  }

  func isOnce(_ flight: Flight) -> Bool {
    repeatability(flight.attempt.ref, flight.attempt.step) == .once
  }

  mutating func interrupt(_ id: UInt64, _ reason: Interruption) {
    flights[id]?.interruption = reason
    if let attempt = flights[id]?.attempt, attempt.operation != .whole {
      self[attempts: attempt.ref]?.isInterrupted = true
    }
    actions.append(.cancel(id))
  }

  // MARK: The execution window

  /// The maximum number of concurrent requests of default sessions in a launch with an execution window. It
  /// equals the number of background tasks that UIApplication allows.
  static let mostInWindow = 1_000

  /// Opens the launch's execution window, which limits the requests of default sessions. In a foreground
  /// launch, the window opens with the hangup.
  mutating func openWindow() {
    windowEndsAt = plan.policies.executionWindow.length(of: options.launch).map { now.advanced(by: $0) }
  }

  mutating func openWindowOfResume() {
    windowEndsAt = plan.policies.executionWindow.end(windowEndsAt, afterResumeAt: now)
    guard isWindowClosed, let windowEndsAt, windowEndsAt > now else { return }
    isWindowClosed = false
    holdHostQueues()
  }

  /// Whether the execution window still allows requests of a session to start in this launch.
  func hasWindow(_ session: SessionID) -> Bool {
    !isWindowClosed || plan.sessions[session.index].kind == .background
  }

  mutating func hangUp() {
    guard options.launch == .foreground, windowEndsAt == nil else { return }
    windowEndsAt = plan.policies.executionWindow.foreground.map { now.advanced(by: $0) }
  }

  /// Ends each request of a default session with the reason `expired`. Requests of background sessions
  /// continue.
  mutating func closeWindowIfOver() {
    guard let windowEndsAt, windowEndsAt <= now, !isWindowClosed else { return }
    isWindowClosed = true
    actions.append(.windowExpired)
    holdHostQueues()
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where hostQueues[flight.hostQueue].hold == .expired && flight.interruption == nil {
      interrupt(id, .expired)
    }
  }

  /// Whether another request of the queue's session may start.
  func hasRoomInWindow(_ hostQueue: Int) -> Bool {
    guard windowEndsAt != nil, flights.count >= Self.mostInWindow else { return true }
    guard plan.sessions[hostQueues[hostQueue].key.session.index].kind != .background else { return true }
    return flights.values.count {
      plan.sessions[hostQueues[$0.hostQueue].key.session.index].kind != .background
    } < Self.mostInWindow
  }
}
