import FerryPlan

extension Plan {
  /// The sessions whose journals record the plan's items: those of all nodes except tokens.
  var itemSessions: [SessionID] {
    Set(nodes.filter { $0.kind != .token }.map(\.session)).sorted { $0.index < $1.index }
  }
}
