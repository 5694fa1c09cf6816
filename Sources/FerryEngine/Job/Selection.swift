import FerryManifest
import FerryPlan

/// The nodes selected by `--only`, with the tokens and requests on which they depend.
package struct Selection: Sendable {
  private let nodes: Set<Int>?

  /// - Parameter nodes: the indices of the nodes.
  init(nodes: Set<Int>) { self.nodes = nodes }

  /// - Parameter names: empty for all nodes.
  package init(_ names: [String], in plan: Plan) throws(UsageError) {
    guard !names.isEmpty else {
      nodes = nil
      return
    }
    var chosen: Set<Int> = []
    var pending: [Int] = []
    for name in names { pending += try Self.nodes(name, in: plan) }
    /// Indices of nodes, by manifest and name.
    var places: [[String: Int]] = plan.manifests.map { _ in [:] }
    for (index, node) in plan.nodes.enumerated() where node.kind != .token {
      places[node.manifest.index][node.name] = index
    }
    while let index = pending.popLast() {
      guard chosen.insert(index).inserted else { continue }
      for step in plan.nodes[index].steps {
        if let token = step.token { pending.append(token.index) }
        for case .request(let name, _) in step.request.references {
          if let ref = places[plan.nodes[index].manifest.index][name] { pending.append(ref) }
        }
      }
    }
    nodes = chosen
  }

  /// Splits the names in `--only` by job; jobs without a selected node are omitted.
  package static func split(
    _ names: [String], among jobs: Jobs
  ) throws(UsageError) -> [(job: Job, only: [String])] {
    _ = try Selection(names, in: jobs.plan)
    return jobs.all.compactMap { job in
      let own = names.filter { !matches($0, in: job.plan).isEmpty }
      return names.isEmpty || !own.isEmpty ? (job, own) : nil
    }
  }

  /// The nodes with a given name: `NODE`, or `MANIFEST/NODE` if several manifests have such a node.
  private static func nodes(_ name: String, in plan: Plan) throws(UsageError) -> [Int] {
    let found = matches(name, in: plan)
    guard !found.isEmpty else {
      let known = plan.nodes.indices.filter { plan.nodes[$0].kind != .token }.map {
        plan.title(of: NodeID($0))
      }
      let who =
        plan.manifests.count == 1
        ? "there is no such node in the manifest" : "there is no such node in any of the manifests"
      throw UsageError(
        "--only \(DisplayPath.shown(name)): \(who)\nhelp: \(plan.manifests.count == 1 ? "its" : "the") nodes are "
          + known.joined(separator: ", "))
    }
    let owners = Set(found.map { plan.nodes[$0].manifest.index })
    guard owners.count == 1 else {
      let choices = owners.sorted().map { "\(plan.manifests[$0])/\(name)" }.joined(separator: " or ")
      throw UsageError(
        "--only \(DisplayPath.shown(name)): several manifests have a node with this name\nhelp: write \(choices)"
      )
    }
    return found
  }

  /// The nodes that match a name. For a node with `for_each`, its base name matches all of its instances.
  static func matches(_ name: String, in plan: Plan) -> [Int] {
    // Names of manifests and nodes contain no slash.
    let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let manifest = parts.count == 2 ? String(parts[0]) : nil
    let local = parts.count == 2 ? String(parts[1]) : name
    return plan.nodes.indices.filter { index in
      let node = plan.nodes[index]
      return node.kind != .token && (node.name == local || node.name.hasPrefix(local + "["))
        && (manifest == nil || plan.manifests[node.manifest.index] == manifest)
    }
  }

  package func contains(_ node: NodeID) -> Bool { nodes?.contains(node.index) ?? true }
}
