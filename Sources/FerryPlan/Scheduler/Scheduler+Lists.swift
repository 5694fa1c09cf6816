import FerryManifest

/// Lists of files that are read only when their uploads open, because a node that an upload needs may write
/// the upload's list.
extension Scheduler {
  /// Returns whether the upload is waiting for its list, and requests the list if it has not been requested.
  mutating func isListing(_ node: Int) -> Bool {
    guard let upload = uploadIndex[node] else { return false }
    switch uploads[upload].list {
    case .read: return false
    case .later:
      uploads[upload].list = .requested
      actions.append(.list(NodeID(node)))
      return true
    case .requested: return true
    }
  }

  /// Adds the items of a list that was requested. The node opens next.
  mutating func take(_ list: UploadList, of node: NodeID) {
    guard let upload = uploadIndex[node.index], uploads[upload].list == .requested else { return }
    uploads[upload].list = .read
    // `ferry cancel` may have ended the node.
    guard case .waiting = nodes[node.index].phase, stop == nil else { return }
    switch list {
    case .items(let items, let settled):
      uploads[upload].append(items)
      uploads[upload].counts.unchanged += settled.delivered - settled.doneInRound
      uploads[upload].counts.done += settled.doneInRound
      uploads[upload].counts.failed += settled.failedInRound + settled.unlisted
      uploads[upload].counts.cancelled += settled.cancelledInRound
    case .unreadable(let failure):
      note(.usage, of: node)
      uploads[upload].leaveRest()
      nodes[node.index].phase = .left(failure)
    }
  }
}
