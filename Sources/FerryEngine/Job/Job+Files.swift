import FerryPlan

extension Job {
  /// The listers of the uploads' files, by node.
  ///
  /// - Parameter state: the path of the state folder, whose files are not listed.
  func listers(environment: [String: String], state: String) throws(ListingFailure) -> [Int: FileLister] {
    let stateFolder = StateFolder(path: state)
    var listers: [Int: FileLister] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      var lister = try FileLister(
        work.files, after: work.after, baseFolder: folder, home: environment["HOME"])
      lister.stateFolder = stateFolder
      listers[index] = lister
    }
    return listers
  }
}

extension FileLister {
  func list() throws -> Listing {
    try list { try StandardInput.bytes(unless: isStopped) }
  }
}

extension ListingProblem: CustomStringConvertible {
  package var description: String { "\(DisplayPath.shown(path)): \(message)" }
}
