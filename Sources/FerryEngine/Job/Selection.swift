import FerryManifest
import FerryPlan

/// The nodes that `--only` names, with the tokens and requests they cannot do without.
package struct Selection: Sendable {
  private let nodes: Set<Int>?

  /// - Parameter names: empty for all nodes.
  package init(_ names: [String], in plan: Plan) throws(UsageError) {
    guard !names.isEmpty else {
      nodes = nil
      return
    }
    var chosen: Set<Int> = []
    var pending: [Int] = []
    for name in names {
      // Of a node with a `for_each`, its own name means all that it makes.
      let found = plan.nodes.indices.filter { index in
        let node = plan.nodes[index]
        return node.kind != .token && (node.name == name || node.name.hasPrefix(name + "["))
      }
      guard !found.isEmpty else {
        let known = plan.nodes.filter { $0.kind != .token }.map(\.name).joined(separator: ", ")
        throw UsageError("--only \(name): the manifest has no such node\nhelp: its nodes are \(known)")
      }
      pending += found
    }
    let places = Dictionary(
      uniqueKeysWithValues: plan.nodes.indices.compactMap { index in
        plan.nodes[index].kind == .token ? nil : (plan.nodes[index].name, index)
      })
    while let index = pending.popLast() {
      guard chosen.insert(index).inserted else { continue }
      for step in plan.nodes[index].steps {
        if let token = step.token { pending.append(token.index) }
        for case .request(let name, _) in step.request.references {
          if let place = places[name] { pending.append(place) }
        }
      }
    }
    nodes = chosen
  }

  package func contains(_ node: NodeID) -> Bool { nodes?.contains(node.index) ?? true }
}
