import FerryJournal
import FerryPlan
import Foundation

/// Finds what an edit of the manifests keeps from going on: open items that their present text does not reach. They
/// stay in their journals, and go on when it reaches them again.
struct EditEffects {
  let jobs: Jobs
  let state: StateDirectory
  let journals: SessionJournals
  let situation: Situation
  let history: RunHistory
  /// Takes lines for people.
  let notice: (String) -> Void

  func find() throws -> [EditEffect] {
    try jobs.manifests.flatMap { manifest in
      let name = jobs.plan.manifests[manifest]
      var effects = try inOwnSessions(name)
      if try hasNewUpload(manifest) { effects += try inOtherSessions(name, .otherSession) }
      let path = URL(fileURLWithPath: jobs.all[manifest].path).standardizedFileURL.path
      for former in try history.openManifests(atPath: path) where former != name {
        effects += try inOtherSessions(former, .otherName)
      }
      return effects
    } + situation.droppedIDs.sorted { $0.key < $1.key }.map(dropped)
  }

  private func inOwnSessions(_ manifest: String) throws -> [EditEffect] {
    try journals.all.enumerated().flatMap { session, journal -> [EditEffect] in
      guard let journal else { return [] }
      let own = jobs.plan.nodes.indices.filter { jobs.plan.nodes[$0].session == SessionID(session) }
      let known = Set(own.compactMap { situation.rows[$0]?.id })
      return try journal.openUploads(of: manifest, except: known).map { upload in
        let isThere = own.contains {
          jobs.plan.nodes[$0].name == upload.name && jobs.plan.nodes[$0].kind == .upload
            && jobs.plan.manifests[jobs.plan.nodes[$0].manifest.index] == manifest
        }
        return effect(isThere ? .otherOrigin : .uploadGone, manifest, upload, journal.identifier)
      }
    }
  }

  /// Whether an upload that has files to send has never handed over any in its session.
  ///
  /// The journals of all other sessions are opened for that, so without files it is not asked.
  private func hasNewUpload(_ manifest: Int) throws -> Bool {
    try jobs.plan.nodes.enumerated().contains { index, node in
      guard node.manifest.index == manifest, let row = situation.rows[index],
        case .upload(let items, _) = situation.starts[index], items.count > 0
      else { return false }
      return try journals.all[node.session.index]?.hasItems(node: row.id) == false
    }
  }

  private func inOtherSessions(_ manifest: String, _ code: EditEffect.Code) throws -> [EditEffect] {
    let own = Set(journals.all.compactMap { $0?.identifier })
    return try state.sessions().flatMap { identifier -> [EditEffect] in
      if own.contains(identifier), code == .otherSession { return [] }
      do throws(JournalError) {
        return try openUploads(of: manifest, in: identifier).map { effect(code, manifest, $0, identifier) }
      } catch {
        // Another session's trouble is no reason to stop this run.
        notice(
          "whether files of \(manifest) are left behind in the session \(identifier) is not known: \(error)")
        return []
      }
    }
  }

  private func openUploads(
    of manifest: String, in session: String
  ) throws(JournalError) -> [SessionJournal.OpenUpload] {
    let journal = try SessionJournal.openForReading(session: session, in: state)
    // It was only read.
    defer { try? journal.close() }
    return try journal.openUploads(of: manifest, except: [])
  }

  private func effect(
    _ code: EditEffect.Code, _ manifest: String, _ upload: SessionJournal.OpenUpload, _ session: String
  ) -> EditEffect {
    let why =
      switch code {
      case .uploadGone: "the manifest has no upload \(upload.name) any more"
      case .otherOrigin: "the upload \(upload.name) went to \(upload.origin)"
      case .otherSession: "the upload \(upload.name) was in the session \(session)"
      case .otherName: "the manifest was \(manifest)"
      case .uploadIDs: ""
      }
    let remedy = "undo that to go on with them, or drop them with 'ferry cancel \(session)'"
    return EditEffect(
      code, manifest: manifest, upload: upload.name, session: session, origin: upload.origin,
      items: upload.items, message: "\(upload.items) files are left behind: \(why); \(remedy)")
  }

  private func dropped(_ node: Int, _ drop: Situation.DroppedIDs) -> EditEffect {
    EditEffect(
      .uploadIDs, manifest: jobs.plan.manifests[jobs.plan.nodes[node].manifest.index],
      upload: jobs.plan.nodes[node].name,
      session: jobs.plan.sessions[jobs.plan.nodes[node].session.index].identifier, items: drop.items,
      message: "\(drop.items) upload IDs are not used: \(drop.reason); these files start over")
  }
}
