import FerryManifest

extension SessionPlan {
  /// Whether a task of the session waits for external power, and for budgets that bind discretionary sessions.
  ///
  /// - Parameter isOfBackground: whether the task was queued in a launch other than a foreground launch, and no
  ///   foreground launch has followed. It is used only if the manifest does not declare `discretionary`.
  package func isDiscretionary(ifOfBackground isOfBackground: Bool) -> Bool {
    switch discretionary {
    case .no: false
    case .yes: true
    case .inferred: isOfBackground
    }
  }

  /// The reason why requests of the session have to wait under these conditions; `nil` if they may be sent.
  ///
  /// The rules for `allows_cellular`, `allows_expensive` and `discretionary` (docs/scheduling.md) are
  /// implemented only here.
  package func hold(under conditions: DeviceConditions, isDiscretionary: Bool) -> RecordedFailure? {
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
    if isDiscretionary, conditions.power == .battery {
      return .init(
        code: .power, message: "waiting for external power: session '\(name)' is discretionary")
    }
    return nil
  }

  /// Whether the session's requests can be held for reasons other than the absence of a network.
  package var asksForConditions: Bool { discretionary != .no || !allowsCellular || !allowsExpensive }
}

extension Plan {
  /// The reason why a node has to wait under these conditions; `nil` if it may start.
  ///
  /// A node waits if the session of one of its steps, or of a token of these steps, has to wait. Otherwise, an upload
  /// ID might expire while its transfer is waiting.
  ///
  /// - Parameter isDiscretionary: whether the node's task is discretionary in a session.
  package func hold(
    on node: Node, under conditions: DeviceConditions, isDiscretionary: (SessionID) -> Bool
  ) -> RecordedFailure? {
    for step in node.deliverySteps {
      let tokenSession = step.token.flatMap { nodes[$0.index].steps.first?.session }
      for session in [step.session, tokenSession].compactMap(\.self) {
        let plan = sessions[session.index]
        if let hold = plan.hold(under: conditions, isDiscretionary: isDiscretionary(session)) { return hold }
      }
    }
    return nil
  }
}
