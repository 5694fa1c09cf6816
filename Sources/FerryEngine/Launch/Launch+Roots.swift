import FerryJournal
import FerryPlan

/// Handles uploads whose roots are missing or unreadable: the reason is recorded in the journals for their
/// queued files.
extension Launch {
  /// Lists files. If a root cannot be listed, the run ends, and the reason is recorded for every selected upload that
  /// has a journal row and a root that cannot be opened.
  func recordingMissingRoots<Result>(
    _ run: Run, _ journals: SessionJournals, _ listers: [Int: FileLister], _ list: () throws -> Result
  ) throws -> Result {
    do {
      return try list()
    } catch let failure as ListingFailure where failure.root != nil {
      for (index, lister) in listers.sorted(by: { $0.key < $1.key })
      where run.selection.contains(NodeID(index)) {
        let node = jobs.plan.nodes[index]
        guard let journal = journals.all[node.session.index], let reason = lister.rootFailure else {
          continue
        }
        let manifest = jobs.plan.manifests[node.manifest.index]
        for row in try journal.nodes
        where row.kind == .upload && row.manifest == manifest && row.name == node.name {
          try journal.record(rootFailure: reason, node: row.id)
        }
      }
      throw failure
    }
  }

  /// Removes the reasons that earlier runs recorded for uploads whose roots have now been listed.
  func forgetMissingRoots(_ launchState: LaunchState, _ journals: SessionJournals) throws(JournalError) {
    for (index, row) in launchState.rows.enumerated() {
      guard let row, row.kind == .upload, row.failure != nil, case .upload = launchState.starts[index],
        !launchState.listsLater.contains(index)
      else { continue }
      try journals.all[jobs.plan.nodes[index].session.index]?.record(rootFailure: nil, node: row.id)
    }
  }
}
