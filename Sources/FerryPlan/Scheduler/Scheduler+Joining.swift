import FerryManifest

/// Manifests that join a launch.
extension Scheduler {
  /// Adds the nodes of another manifest, so that they share the launch's priorities, connections and budgets.
  ///
  /// - Parameters:
  ///   - combined: the launch's plan, combined with the plan of the other manifest. The launch's own nodes
  ///     and sessions keep their positions.
  ///   - starts: the states of the added nodes, in the plan's order.
  package mutating func join(_ combined: Plan, starts: [NodeStart]) {
    let first = plan.nodes.count
    precondition(
      combined.nodes.count == first + starts.count && combined.policies == plan.policies,
      "the combined plan must begin with the launch's plan")
    plan = combined
    steps = StepTable(combined)
    uploadIndex += starts.map { _ in nil }
    for index in sessions.count..<plan.sessions.count {
      sessions.append(SessionState())
      sessionGates.append(openGates(of: plan.sessions[index]))
    }
    for (offset, start) in starts.enumerated() { addNode(NodeID(first + offset), start, keptInterval: nil) }
    for upload in uploads.indices where uploads[upload].node.index >= first { holdItems(of: upload) }
    prepareHostQueues(from: first)
  }

  /// Orders the uploads of each host queue by priority, and marks the queues whose steps wait for entries.
  ///
  /// - Parameter first: the first node that is new.
  mutating func prepareHostQueues(from first: Int = 0) {
    for node in plan.nodes[first...] {
      for step in node.steps where node.waitsForEntry(before: step) {
        hostQueues[hostQueue(step.session, step.origin)].needsEntries = true
      }
    }
    for hostQueue in hostQueues.indices {
      hostQueues[hostQueue].sources.sort { (uploads[$0].priority, $0) < (uploads[$1].priority, $1) }
    }
  }
}
