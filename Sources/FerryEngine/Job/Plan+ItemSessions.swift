import FerryPlan

extension Plan {
  /// Whether a run may start commands.
  var startsCommands: Bool {
    !policies.executionWindow.onExpiry.isEmpty || sessions.contains { !$0.onEvents.isEmpty }
  }

  /// The sessions whose journals record the plan's items: those of all nodes except tokens.
  var itemSessions: [SessionID] {
    Set(nodes.filter { $0.kind != .token }.map(\.session)).sorted { $0.index < $1.index }
  }
}
