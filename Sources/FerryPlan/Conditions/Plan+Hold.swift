import FerryManifest

extension SessionPlan {
  /// Whether transfers that a launch of this kind creates wait for power and budget. Inferred where none was
  /// declared: a foreground launch drops it.
  package func isDiscretionary(in launch: LaunchKind) -> Bool {
    switch discretionary {
    case .no: false
    case .yes: true
    case .inferred: launch != .foreground
    }
  }

  /// Why requests of the session wait under these conditions; `nil` where they may be sent.
  ///
  /// The one place of the rules `allows_cellular`, `allows_expensive` and `discretionary` (docs/scheduling.md).
  package func hold(under conditions: DeviceConditions, in launch: LaunchKind) -> RecordedFailure? {
    if conditions.network == .none {
      return .init(code: "network", message: "waits for a network")
    }
    if conditions.network == .cellular, !allowsCellular {
      return .init(
        code: "network",
        message: "waits for another network than cellular: allows_cellular of the session \(name) is false")
    }
    if conditions.isExpensive, !allowsExpensive {
      return .init(
        code: "network",
        message:
          "waits for a network that is not paid by volume: allows_expensive of the session \(name) is false")
    }
    if isDiscretionary(in: launch), conditions.power == .battery {
      return .init(
        code: "power", message: "waits for external power: the session \(name) is discretionary")
    }
    return nil
  }

  /// Whether conditions decide anything for it, beyond that there is a network.
  package var asksForConditions: Bool { discretionary != .no || !allowsCellular || !allowsExpensive }
}

extension Plan {
  /// Why a node waits under these conditions: one of its steps does, or the token that they carry. An upload waits
  /// as a whole: an upload ID would expire while its transfer waits.
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
