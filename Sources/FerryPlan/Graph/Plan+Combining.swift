extension Plan {
  /// One plan of several, so that one scheduler keeps their priorities, limits and budgets: the manifests after one
  /// another, and what has the same identifier is one session. Of one plan it is that plan.
  ///
  /// - Parameter plans: at least one; each of one manifest, no name twice.
  /// - Throws: where they do not agree on what they have to share.
  package init(combining plans: [Plan]) throws(PlanConflict) {
    precondition(!plans.isEmpty, "there is no plan of nothing")
    self = plans[0]
    guard plans.count > 1 else { return }
    for index in sessions.indices { sessions[index].name = sessions[index].identifier }
    /// Which manifest had each session first.
    var owners = sessions.map { _ in ManifestID(0) }
    for (index, plan) in plans.enumerated().dropFirst() {
      let manifest = ManifestID(index)
      precondition(!manifests.contains(plan.manifest), "the manifests of a launch have names of their own")
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

  /// Where the session is in this plan, which takes it in where it has none of the identifier.
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
  /// The same node among those of other manifests.
  ///
  /// - Parameters:
  ///   - first: where its manifest's nodes begin.
  ///   - sessions: where each of its manifest's sessions is.
  fileprivate func moved(to manifest: ManifestID, nodesFrom first: Int, sessions: [SessionID]) -> Node {
    func moved(_ step: Step) -> Step {
      var step = step
      step.session = sessions[step.session.index]
      step.token = step.token.map { NodeID($0.index + first) }
      return step
    }
    var node = self
    node.manifest = manifest
    node.session = sessions[session.index]
    node.needs = needs.map { NodeID($0.index + first) }
    switch work {
    case .token(var work):
      work.step = moved(work.step)
      node.work = .token(work)
    case .upload(var work):
      work.allocate = work.allocate.map(moved)
      work.transfer = moved(work.transfer)
      work.commit = work.commit.map(moved)
      work.probe = work.probe.map(moved)
      work.abandon = work.abandon.map(moved)
      node.work = .upload(work)
    case .fetch(var work):
      work.step = moved(work.step)
      node.work = .fetch(work)
    case .request(var work):
      work.step = moved(work.step)
      node.work = .request(work)
    }
    return node
  }
}
