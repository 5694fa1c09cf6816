import FerryJournal
import FerryPlan

extension SessionJournal {
  /// The rows of a plan's uploads whose files may be sent and committed again once the server has them whole
  /// (`UploadWork.recommits`).
  func recommitted(by plan: Plan) throws(JournalError) -> Set<Int64> {
    let names = plan.nodes.compactMap { node -> [String]? in
      guard case .upload(let work) = node.work, work.recommits else { return nil }
      return [plan.manifests[node.manifest.index], node.name]
    }
    return Set(
      try nodes.filter { $0.kind == .upload && names.contains([$0.manifest, $0.name]) }.map(\.id))
  }
}
