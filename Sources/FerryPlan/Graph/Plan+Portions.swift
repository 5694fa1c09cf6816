import FerryManifest

extension Plan {
  /// Whether the files of an upload may be listed in portions while the first ones are sent.
  ///
  /// This requires that the order in which files are listed and sent does not matter:
  /// - Globs select the files. A list is read completely before its files are compared.
  /// - Nothing in the plan stores, deletes or moves files, which the listing might then find or miss.
  /// - The batch contains all files, and no resume waits for its end.
  /// - The upload opens at the start of the launch.
  /// - No warning depends on the largest file (F0703).
  package func listsInPortions(_ id: NodeID) -> Bool {
    let node = nodes[id.index]
    guard case .upload(let work) = node.work, case .globs = work.files.source else { return false }
    let hasResumes = sessions[node.session.index].kind == .background && policies.resumeDelay.policy != .none
    return work.batch == Upload.Batch() && work.validFor == nil && !hasResumes
      && node.needs.allSatisfy { nodes[$0.index].kind == .token } && !nodes.contains(where: \.writesFiles)
  }
}

extension Node {
  /// Whether the node stores, deletes or moves files.
  fileprivate var writesFiles: Bool {
    switch work {
    case .token, .request: false
    case .fetch: true
    case .upload(let work): work.download != nil || work.after != .keep
    }
  }
}
