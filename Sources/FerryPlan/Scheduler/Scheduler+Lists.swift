import FerryManifest

/// Lists of files that are not known when the launch begins: those that are read when their uploads open, because the
/// nodes that they need may write them, and those of many files, which arrive in portions.
extension Scheduler {
  /// Returns whether the upload is waiting for its list, and requests the list if it has not been requested.
  mutating func isListing(_ node: Int) -> Bool {
    guard let upload = uploadIndex[node] else { return false }
    switch uploads[upload].list {
    case .read, .partial, .continuing: return false
    case .later:
      uploads[upload].list = .requested
      actions.append(.list(NodeID(node)))
      return true
    case .requested: return true
    }
  }

  /// Whether files are still being listed while others are sent, so that the number of open items will increase.
  package var isListing: Bool { incompleteListings > 0 }

  /// Requests further files of listings that arrive in portions.
  ///
  /// A portion is requested when the previous one is queued on disk. Otherwise, the journal could have to write
  /// many portions before the outcomes of requests.
  mutating func continueListings() {
    guard incompleteListings > 0 else { return }
    for upload in uploads.indices {
      guard case .partial = uploads[upload].list, uploads[upload].queuedBy <= synced,
        case .open = nodes[uploads[upload].node.index].phase
      else { continue }
      uploads[upload].list = .continuing
      actions.append(.list(uploads[upload].node))
    }
  }

  /// Adds the items of a list that was requested. A node that waits for its list opens next.
  mutating func take(_ list: UploadList, of node: NodeID) {
    guard let upload = uploadIndex[node.index] else { return }
    switch uploads[upload].list {
    case .requested: take(list, opening: upload)
    case .continuing: take(list, continuing: upload)
    case .later, .partial, .read: break
    }
  }

  private mutating func take(_ list: UploadList, opening upload: Int) {
    let node = uploads[upload].node
    uploads[upload].list = .read
    // `ferry cancel` may have ended the node.
    guard case .waiting = nodes[node.index].phase, stop == nil else { return }
    switch list {
    case .items(let items, let settled):
      uploads[upload].appendListed(items)
      count(settled, of: upload)
    case .portion(let items):
      uploads[upload].appendListed(items)
      uploads[upload].list = .partial
      incompleteListings += 1
    case .unreadable(let failure):
      note(.usage, of: node)
      uploads[upload].leaveRest()
      guard !hasFailedTooLong(node) else { return close(node.index, .failed, failure) }
      nodes[node.index].phase = .left(failure)
    }
  }

  private mutating func take(_ list: UploadList, continuing upload: Int) {
    switch list {
    case .portion(let items):
      uploads[upload].list = .partial
      uploads[upload].appendListed(items)
    case .items(let items, let settled):
      endListing(of: upload)
      uploads[upload].appendListed(items)
      count(settled, of: upload)
    case .unreadable:
      // The number of the files that remain is not known, so they count as one.
      endListing(of: upload)
      uploads[upload].counts.failed += 1
    }
    if isEnding { uploads[upload].leaveRest() }
    // A launch that is stopping leaves the items for a later one.
    guard stop == nil, !isEnding else { return }
    if let cancellation = uploads[upload].cancellation {
      let node = uploads[upload].node
      for item in handOverRest(of: upload) { end(ItemRef(node, item), .cancelled, cancellation) }
    } else {
      handOver(upload)
    }
    closeIfThrough(upload)
  }

  private mutating func endListing(of upload: Int) {
    uploads[upload].list = .read
    incompleteListings -= 1
  }

  /// Counts the files for which the launch has nothing to do.
  private mutating func count(_ settled: Reconciliation.Settled, of upload: Int) {
    uploads[upload].counts.unchanged += settled.delivered - settled.doneInRound
    uploads[upload].counts.done += settled.doneInRound
    uploads[upload].counts.failed += settled.failedInRound + settled.unlisted
    uploads[upload].counts.cancelled += settled.cancelledInRound
  }
}
