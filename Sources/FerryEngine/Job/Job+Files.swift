import FerryPlan

extension Job {
  /// The listers of the uploads' files, by node.
  func listers(environment: [String: String]) throws(ListingFailure) -> [Int: FileLister] {
    var listers: [Int: FileLister] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      listers[index] = try FileLister(
        work.files, after: work.after, baseFolder: folder, home: environment["HOME"])
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
