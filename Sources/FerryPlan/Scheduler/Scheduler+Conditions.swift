import FerryManifest

/// The machine's network and power, and the launch's execution window: what keeps whole lanes back.
extension Scheduler {
  /// Why a node waits under the present conditions.
  func hold(on node: NodeID) -> RecordedFailure? {
    plan.hold(on: plan.nodes[node.index], under: conditions, in: options.launch)
  }

  /// Why requests of a session wait.
  func hold(on session: SessionID) -> RecordedFailure? {
    if isWindowClosed, plan.sessions[session.index].kind != .background { return .expired }
    return plan.sessions[session.index].hold(under: conditions, in: options.launch)
  }

  /// The machine has another network or power: what may not go on is stopped and waits.
  mutating func change(to new: DeviceConditions) {
    guard new != conditions else { return }
    let hasOtherNetwork = new.network != conditions.network
    conditions = new
    holdHostQueues()
    for upload in uploads.indices { uploads[upload].isHeld = hold(on: uploads[upload].node) != nil }
    if hasOtherNetwork { changeGate() }
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where hostQueues[flight.hostQueue].hold != nil || (hasOtherNetwork && isPromised(flight)) {
      // The answer of a step that is never sent again is worth more than the rule: it has been sent.
      guard flight.interruption == nil, !isOnce(flight) else { continue }
      interrupt(id, .conditions)
    }
  }

  /// Whether it may only be sent under a promise of the network's budget, which that of another network is not.
  private func isPromised(_ flight: Flight) -> Bool {
    switch flight.attempt.step {
    case .transfer, .fetch, .request: isGated(flight.attempt.ref.node)
    case .token, .allocate, .commit, .probe, .abandon: false
    }
  }

  func isOnce(_ flight: Flight) -> Bool {
    step(flight.attempt.ref.node, flight.attempt.step).repeatability == .once
  }

  private mutating func holdHostQueues() {
    for hostQueue in hostQueues.indices {
      hostQueues[hostQueue].hold = hold(on: hostQueues[hostQueue].key.session)
    }
  }

  mutating func interrupt(_ id: UInt64, _ reason: Interruption) {
    flights[id]?.interruption = reason
    actions.append(.cancel(id))
  }

  // MARK: The execution window

  /// Requests of default sessions that are under way at once, at most, in a launch that has a window: as many
  /// as UIApplication lets begin.
  static let mostInWindow = 1_000

  /// One clock for the launch, however many requests. A foreground launch's begins with the hang-up.
  mutating func openWindow() {
    let window = plan.policies.executionWindow
    let length: Duration? =
      switch options.launch {
      case .foreground: nil
      case .background: window.background
      case .fetch: window.fetch
      case .event: window.event
      case .continuous: window.continuous
      }
    windowEndsAt = length.map { now.advanced(by: $0) }
  }

  mutating func hangUp() {
    guard options.launch == .foreground, windowEndsAt == nil else { return }
    windowEndsAt = plan.policies.executionWindow.foreground.map { now.advanced(by: $0) }
  }

  /// Ends requests of default sessions by name; those of background sessions go on.
  mutating func closeWindowIfOver() {
    guard let windowEndsAt, windowEndsAt <= now, !isWindowClosed else { return }
    isWindowClosed = true
    holdHostQueues()
    for (id, flight) in flights.sorted(by: { $0.key < $1.key })
    where hostQueues[flight.hostQueue].hold == .expired && flight.interruption == nil {
      interrupt(id, .expired)
    }
  }

  /// Whether another request of the lane's session may be under way.
  func hasRoomInWindow(_ hostQueue: Int) -> Bool {
    guard windowEndsAt != nil, flights.count >= Self.mostInWindow else { return true }
    guard plan.sessions[hostQueues[hostQueue].key.session.index].kind != .background else { return true }
    return flights.values.count {
      plan.sessions[hostQueues[$0.hostQueue].key.session.index].kind != .background
    } < Self.mostInWindow
  }
}
