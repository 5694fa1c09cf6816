import FerryManifest
import FerryPlan
import Foundation

/// Lists of files that nodes of the same manifest may write.
extension LaunchState {
  /// Whether the upload has a list file and depends on a node that has not ended in this round. The starts of
  /// the nodes that it depends on must already be known.
  func listMayChange(_ node: Node, _ work: UploadWork) -> Bool {
    work.listFile != nil && node.needs.contains { isToRun($0) }
  }

  /// Whether the upload waits for a fetch that writes its list file and has not ended in this round.
  func listIsFetched(_ id: NodeID, _ jobs: Jobs) -> Bool {
    guard case .upload(let work) = jobs.plan.nodes[id.index].work, let list = work.listFile else {
      return false
    }
    let folder = jobs.job(of: id).folder
    var (waiting, found) = (jobs.plan.nodes[id.index].needs, Set<NodeID>())
    while let need = waiting.popLast() {
      guard found.insert(need).inserted, isToRun(need) else { continue }
      waiting += jobs.plan.nodes[need.index].needs
      guard case .fetch(let fetch) = jobs.plan.nodes[need.index].work else { continue }
      if Self.file(fetch.saveTo, in: folder) == Self.file(list, in: folder) { return true }
    }
    return false
  }

  /// Whether the launch still has to run a node. Its start must already be known.
  private func isToRun(_ node: NodeID) -> Bool {
    switch starts[node.index] {
    case .open, .intended, .upload: true
    case .notSelected, .submissions, .closed, .notDue, .switchedOff, .stored, .notStored, .left: false
    }
  }

  private static func file(_ path: String, in folder: String) -> String {
    URL(filePath: path, relativeTo: URL(filePath: folder, directoryHint: .isDirectory)).standardized.path
  }
}
