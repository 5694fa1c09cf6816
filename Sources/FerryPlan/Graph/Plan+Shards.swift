import FerryManifest

/// Divides a plan into the work before its uploads, the uploads, and the work after them.
extension Plan {
  /// An upload that cannot be divided, because it waits for another upload.
  package struct UploadChain: Error, Hashable {
    /// The upload that waits.
    package var upload: String
    /// The node that the upload needs. This node is another upload, or directly or indirectly needs one.
    package var need: String
    /// The upload for which `upload` waits, directly or indirectly.
    package var first: String

    package init(upload: String, need: String, first: String) {
      self.upload = upload
      self.need = need
      self.first = first
    }
  }

  /// The nodes that run once after the uploads: those that directly or indirectly need an upload.
  ///
  /// - Throws: `UploadChain` if one of them is an upload. Its items would have to wait for other shards.
  package func nodesAfterUploads() throws(UploadChain) -> Set<Int> {
    /// For each node that directly or indirectly waits for an upload, that upload.
    var cause: [Int: Int] = [:]
    for index in nodes.indices {
      for need in nodes[index].needs.map(\.index) {
        guard let upload = nodes[need].kind.hasItems ? need : cause[need] else { continue }
        if nodes[index].kind.hasItems {
          throw UploadChain(
            upload: nodes[index].name, need: nodes[need].name, first: nodes[upload].name)
        }
        cause[index] = upload
      }
    }
    return Set(cause.keys)
  }

  /// The requests and fetches on which the uploads directly or indirectly depend.
  package var nodesBeforeUploads: Set<Int> {
    var found: Set<Int> = []
    var pending = nodes.indices.filter { nodes[$0].kind.hasItems }
    while let index = pending.popLast() {
      for need in nodes[index].needs.map(\.index) where found.insert(need).inserted { pending.append(need) }
    }
    return found
  }

  /// The plan of one shard: the uploads, the nodes on which they depend, and the tokens that all of these
  /// nodes use.
  package var ofShard: Plan {
    let needed = nodesBeforeUploads
    var kept = Set(nodes.indices.filter { nodes[$0].kind.hasItems || needed.contains($0) })
    kept.formUnion(kept.flatMap { nodes[$0].steps.compactMap { $0.token?.index } })
    return keeping(kept)
  }

  /// The plan with only these nodes, which must include the tokens that they use.
  private func keeping(_ kept: Set<Int>) -> Plan {
    var plan = self
    var places: [Int: NodeID] = [:]
    for index in nodes.indices where kept.contains(index) { places[index] = NodeID(places.count) }
    plan.nodes = nodes.indices.filter(kept.contains).map { index in
      var node = nodes[index].withTokens { places[$0.index] }
      node.needs = node.needs.compactMap { places[$0.index] }
      return node
    }
    return plan
  }
}

extension Budgets {
  /// The part of each limit that one of several processes may use. The parts add up to the limit.
  ///
  /// - Parameters:
  ///   - index: from 0 to `count - 1`.
  package func part(_ index: Int, of count: Int) -> Budgets {
    var budgets = self
    func part(_ budget: Budget?) -> Budget? {
      guard var budget else { return nil }
      func bound(_ index: Int) -> Int64 {
        let product = budget.limit.multipliedFullWidth(by: Int64(index))
        return Int64(count).dividingFullWidth(product).quotient
      }
      budget.limit = bound(index + 1) - bound(index)
      return budget
    }
    budgets.wifi = part(wifi)
    budgets.wired = part(wired)
    budgets.cellular = part(cellular)
    budgets.any = part(any)
    return budgets
  }
}

extension Node {
  /// The same node, with the token of each step replaced.
  fileprivate func withTokens(_ moved: (NodeID) -> NodeID?) -> Node {
    changingSteps { step in
      var step = step
      step.token = step.token.flatMap(moved)
      return step
    }
  }
}
