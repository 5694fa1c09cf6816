extension Plan {
  /// The uploads that a node needs, directly or through other nodes. Download batches are not included.
  package func neededUploads(of id: NodeID) -> [NodeID] {
    var (waiting, found) = (nodes[id.index].needs, Set<NodeID>())
    var uploads: [NodeID] = []
    while let need = waiting.popLast() {
      guard found.insert(need).inserted else { continue }
      if case .upload(let work) = nodes[need.index].work, work.download == nil { uploads.append(need) }
      waiting += nodes[need.index].needs
    }
    return uploads
  }
}
