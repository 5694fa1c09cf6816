import FerryJournal
import FerryPlan

/// Removes the partial files that interrupted downloads have left and that no later run would continue.
struct DownloadParts {
  let jobs: Jobs
  let journals: SessionJournals

  /// Removes the parts of items that a download batch has begun and that its list no longer contains.
  ///
  /// Otherwise, a server that supplies the list could fill the disk: with other names in each run, and with responses that
  /// end early.
  ///
  /// - Parameter lister: has read the list.
  func removeUnlisted(of node: NodeID, row: NodeRow?, _ lister: FileLister) throws(JournalError) {
    let batch = jobs.plan.nodes[node.index]
    guard case .upload(let work) = batch.work, work.download != nil, let listed = lister.listed,
      listed.isRead,
      // After a stop, the list may be incomplete.
      !lister.isStopped(), let row, row.id != 0, let journal = journals.all[batch.session.index]
    else { return }
    try removeParts(of: node, row: row.id, in: journal) { !listed.contains($0) }
  }

  /// Removes the parts of all sessions that keep nothing on the disk. Called when the run has ended.
  func removeEphemeral() throws(JournalError) {
    let plan = jobs.plan
    for (index, node) in plan.nodes.enumerated() where plan.sessions[node.session.index].kind == .ephemeral {
      let (id, manifest) = (NodeID(index), plan.manifests[node.manifest.index])
      switch node.work {
      case .token, .request: break
      case .fetch(let work):
        _ = FetchPart(
          of: work, in: jobs.job(of: id).folder, session: plan.sessions[node.session.index].identifier,
          manifest: manifest, node: node.name
        ).remove()
      case .upload(let work):
        guard work.download != nil, let journal = journals.all[node.session.index] else { continue }
        for row in try journal.nodes where row.manifest == manifest && row.name == node.name {
          try removeParts(of: id, row: row.id, in: journal) { _ in true }
        }
      }
    }
  }

  private func removeParts(
    of node: NodeID, row: Int64, in journal: SessionJournal, where isRemoved: ([UInt8]) -> Bool
  ) throws(JournalError) {
    let (plan, batch) = (jobs.plan, jobs.plan.nodes[node.index])
    let folder = jobs.job(of: node).folder
    let owner = FetchPart.owner(
      session: plan.sessions[batch.session.index].identifier, manifest: plan.manifests[batch.manifest.index],
      node: batch.name)
    try journal.forEachUndelivered(node: row) { item in
      let path = item.path
      if isRemoved(path) { _ = FetchPart(of: path, in: folder, owner: owner).remove() }
    }
  }
}
