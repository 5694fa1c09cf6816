extension Plan {
  /// Combines several plans into one, so that a single scheduler enforces their priorities, limits and
  /// budgets.
  ///
  /// The manifests are appended in order. Sessions with the same identifier become one session. A single
  /// plan is returned unchanged.
  ///
  /// - Parameter plans: at least one plan, each for one manifest, with distinct names.
  /// - Throws: an error if the plans differ in a value that they have to share.
  package init(combining plans: [Plan]) throws(PlanConflict) {
    precondition(!plans.isEmpty, "at least one plan is required")
    self = plans[0]
    guard plans.count > 1 else { return }
    for index in sessions.indices { sessions[index].name = sessions[index].identifier }
    /// For each session, the first manifest that contains it.
    var owners = sessions.map { _ in ManifestID(0) }
    for (index, plan) in plans.enumerated().dropFirst() {
      let manifest = ManifestID(index)
      precondition(!manifests.contains(plan.manifest), "the manifests of a launch have different names")
      if let key = policies.difference(from: plan.policies) {
        throw PlanConflict(ManifestID(0), manifest, key: key)
      }
      manifests.append(plan.manifest)
      var places: [SessionID] = []
      for session in plan.sessions {
        places.append(try place(of: session, from: manifest, &owners))
      }
      let first = nodes.count
      nodes += plan.nodes.map { $0.moved(to: manifest, nodesFrom: first, sessions: places) }
    }
  }

  /// Returns the session's ID in this plan. Adds the session if this plan does not contain its identifier.
  private mutating func place(
    of session: SessionPlan, from manifest: ManifestID, _ owners: inout [ManifestID]
  ) throws(PlanConflict) -> SessionID {
    if let known = sessions.firstIndex(where: { $0.identifier == session.identifier }) {
      if let key = sessions[known].difference(from: session) {
        throw PlanConflict(owners[known], manifest, session: session.identifier, key: key)
      }
      return SessionID(known)
    }
    var session = session
    session.name = session.identifier
    sessions.append(session)
    owners.append(manifest)
    return SessionID(sessions.count - 1)
  }
}

extension Node {
  /// The same node in the combined plan.
  ///
  /// - Parameters:
  ///   - first: the index of the manifest's first node in the combined plan.
  ///   - sessions: the IDs of the manifest's sessions in the combined plan.
  fileprivate func moved(to manifest: ManifestID, nodesFrom first: Int, sessions: [SessionID]) -> Node {
    func moved(_ step: Step) -> Step {
      var step = step
      step.session = sessions[step.session.index]
      step.token = step.token.map { NodeID($0.index + first) }
      return step
    }
    var node = changingSteps(moved)
    node.manifest = manifest
    node.session = sessions[session.index]
    node.needs = needs.map { NodeID($0.index + first) }
    return node
  }
}
