import FerryManifest

extension SessionPlan {
  /// Whether transfers created by a launch of this kind wait for power and budget. If the manifest does not
  /// declare it, it is inferred: they wait except in a foreground launch.
  package func isDiscretionary(in launch: LaunchKind) -> Bool {
    switch discretionary {
    case .no: false
    case .yes: true
    case .inferred: launch != .foreground
    }
  }

  /// The reason why requests of the session have to wait under these conditions; `nil` if they may be sent.
  ///
  /// The rules for `allows_cellular`, `allows_expensive` and `discretionary` (docs/scheduling.md) are
  /// implemented only here.
  package func hold(under conditions: DeviceConditions, in launch: LaunchKind) -> RecordedFailure? {
    if conditions.network == .none {
      return .init(code: .network, message: "waiting for a network")
    }
    if conditions.network == .cellular, !allowsCellular {
      return .init(
        code: .network,
        message: "waiting for a network other than cellular: allows_cellular is false in session '\(name)'")
    }
    if conditions.isExpensive, !allowsExpensive {
      return .init(
        code: .network,
        message:
          "waiting for an unmetered network: allows_expensive is false in session '\(name)'")
    }
    if isDiscretionary(in: launch), conditions.power == .battery {
      return .init(
        code: .power, message: "waiting for external power: session '\(name)' is discretionary")
    }
    return nil
  }

  /// Whether its requests can be held for reasons other than the absence of a network.
  package var asksForConditions: Bool { discretionary != .no || !allowsCellular || !allowsExpensive }
}

extension Plan {
  /// The reason why a node has to wait under these conditions: the session of one of its steps, or of their token,
  /// has to wait. An upload waits as a whole, because an upload ID would otherwise expire while its transfer
  /// waits.
  package func hold(
    on node: Node, under conditions: DeviceConditions, in launch: LaunchKind
  ) -> RecordedFailure? {
    for step in node.deliverySteps {
      let tokenSession = step.token.flatMap { nodes[$0.index].steps.first?.session }
      for session in [step.session, tokenSession].compactMap(\.self) {
        if let hold = sessions[session.index].hold(under: conditions, in: launch) { return hold }
      }
    }
    return nil
  }
}
