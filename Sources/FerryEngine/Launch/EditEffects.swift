import FerryJournal
import FerryPlan
import Foundation

/// Finds open items that the current manifests no longer reach because of an edit. They remain in their
/// journals, and continue when a manifest reaches them again.
struct EditEffects {
  let jobs: Jobs
  let state: StateDirectory
  let journals: SessionJournals
  let launchState: LaunchState
  let former: FormerRequests
  let history: RunHistory
  let inbox: Inbox
  /// Receives messages, one line at a time.
  let notice: (String) -> Void

  func find() throws -> [EditEffect] {
    var effects: [EditEffect] = []
    /// The manifests whose files other sessions may have, by name.
    var searched: [String: EditEffect.Code] = [:]
    for manifest in jobs.manifests {
      let name = jobs.plan.manifests[manifest]
      effects += try inOwnSessions(name)
      if try hasNewUpload(manifest) { searched[name] = .otherSession }
      effects += try submitted(name, nil)
      let path = AbsolutePath.text(of: jobs.all[manifest].path)
      for other in try history.openManifests(atPath: path) where other != name {
        searched[other] = .otherName
        effects += try submitted(other, .otherName)
      }
    }
    effects +=
      searched.isEmpty
      ? [] : try inOtherSessions(searched.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    return effects + requests + launchState.droppedIDs.sorted { $0.key < $1.key }.map(dropped)
  }

  private func inOwnSessions(_ manifest: String) throws -> [EditEffect] {
    try journals.all.enumerated().flatMap { session, journal -> [EditEffect] in
      guard let journal else { return [] }
      let own = jobs.plan.nodes.indices.filter { jobs.plan.nodes[$0].session == SessionID(session) }
      let known = Set(own.compactMap { launchState.rows[$0]?.id })
      return try journal.openUploads(of: manifest, except: known).map { upload in
        let isThere = own.contains {
          jobs.plan.nodes[$0].name == upload.name && jobs.plan.nodes[$0].kind == Node.Kind(upload.kind)
            && jobs.plan.manifests[jobs.plan.nodes[$0].manifest.index] == manifest
        }
        return effect(isThere ? .otherOrigin : .uploadGone, manifest, upload, journal.identifier)
      }
    }
  }

  /// Whether the manifest has an upload that has files to send and has never queued any file in its session.
  ///
  /// Uploads without files to send do not count, because the search for a match opens the journals of all other
  /// sessions.
  private func hasNewUpload(_ manifest: Int) throws -> Bool {
    try jobs.plan.nodes.enumerated().contains { index, node in
      guard node.manifest.index == manifest, case .upload(let items, _) = launchState.starts[index],
        items.count > 0, let row = launchState.rows[index]
      else { return false }
      return try journals.all[node.session.index]?.hasItems(node: row.id) == false
    }
  }

  /// - Parameter manifests: their names in the journals. Each journal is opened once.
  private func inOtherSessions(
    _ manifests: [(name: String, code: EditEffect.Code)]
  ) throws -> [EditEffect] {
    // A file that this process has open for writing must not be opened again: closing it would drop SQLite's
    // locks.
    let own = Dictionary(
      uniqueKeysWithValues: journals.all.compactMap(\.self).filter(\.isOnDisk).map { ($0.identifier, $0) })
    let former = manifests.filter { $0.code == .otherName }
    return try state.sessions().flatMap { identifier -> [EditEffect] in
      if let journal = own[identifier] { return try openUploads(of: former, in: journal) }
      do throws(JournalError) {
        let journal = try SessionJournal.openForReading(session: identifier, in: state)
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        return try openUploads(of: manifests, in: journal)
      } catch {
        // A problem in another session does not stop this run.
        let files = manifests.count == 1 ? "files of manifest '\(manifests[0].name)'" : "files"
        notice("cannot determine whether \(files) remain in session '\(identifier)': \(error)")
        return []
      }
    }
  }

  private func openUploads(
    of manifests: [(name: String, code: EditEffect.Code)], in journal: SessionJournal
  ) throws(JournalError) -> [EditEffect] {
    var effects: [EditEffect] = []
    for (manifest, code) in manifests {
      effects += try journal.openUploads(of: manifest, except: []).map {
        effect(code, manifest, $0, journal.identifier)
      }
    }
    return effects
  }

  /// Files submitted to uploads that the manifest no longer has in the note's session. The notes are kept.
  private func submitted(_ manifest: String, _ code: EditEffect.Code?) throws -> [EditEffect] {
    var notes: [[String]: Int] = [:]
    for session in try inbox.sessions() {
      for note in try inbox.notes(session: session) where note.kind == .submit && note.manifest == manifest {
        guard jobs.plan.upload(of: note) == nil, let upload = note.node else { continue }
        notes[[session, upload], default: 0] += note.files.count
      }
    }
    return notes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, files in
      let isElsewhere = jobs.plan.nodes.contains {
        $0.kind == .upload && $0.name == key[1] && jobs.plan.manifests[$0.manifest.index] == manifest
      }
      let code = code ?? (isElsewhere ? .otherSession : .uploadGone)
      return effect(code, manifest, key[1], in: key[0], files: files)
    }
  }

  /// Requests and fetches that may have been executed, and whose state the run does not report otherwise.
  private var requests: [EditEffect] {
    former.unused(used: launchState.formerRequests).filter(\.row.isInDoubt).map { entry in
      let row = entry.row
      let kind = row.kind == .fetch ? "fetch" : "request"
      let node = jobs.plan.nodes.first {
        $0.manifest == entry.manifest && $0.name == row.name && $0.kind == Node.Kind(row.kind)
      }
      let (code, why): (EditEffect.Code, String) =
        if entry.manifest == nil {
          (.otherName, "the manifest was previously named '\(row.manifest)'")
        } else if let node {
          jobs.plan.sessions[node.session.index].identifier == entry.session
            ? (.otherOrigin, "\(kind) '\(row.name)' previously used \(row.server ?? "another server")")
            : (.otherSession, "\(kind) '\(row.name)' was previously in session '\(entry.session)'")
        } else {
          (.requestGone, "the manifest no longer has \(kind) '\(row.name)'")
        }
      return EditEffect(
        code, manifest: row.manifest, upload: row.name, session: entry.session, origin: row.server, items: 1,
        message:
          "1 \(kind) that may have been executed: \(why); check the server; for the commands that record its outcome, run: \(state.command(["status", entry.session]))"
      )
    }
  }

  private func effect(
    _ code: EditEffect.Code, _ manifest: String, _ upload: SessionJournal.OpenUpload, _ session: String
  ) -> EditEffect {
    effect(
      code, manifest, upload.name, Node.Kind(upload.kind), in: session, origin: upload.origin,
      files: upload.items)
  }

  private func effect(
    _ code: EditEffect.Code, _ manifest: String, _ upload: String, _ kind: Node.Kind = .upload,
    in session: String, origin: String? = nil, files: Int
  ) -> EditEffect {
    let title = "\(kind == .download ? "download batch" : "upload") '\(upload)'"
    let why =
      switch code {
      case .uploadGone: "the manifest no longer has \(title)"
      case .otherOrigin: "\(title) previously used \(origin ?? "another server")"
      case .otherSession where isEphemeral(session):
        "session '\(session)' is now ephemeral and does not store anything"
      case .otherSession: "\(title) was previously in session '\(session)'"
      case .otherName: "the manifest was previously named '\(manifest)'"
      case .uploadIDs, .requestGone: ""
      }
    let remedy = "undo this change to resume them, or drop them with: \(state.command(["cancel", session]))"
    return EditEffect(
      code, manifest: manifest, upload: upload, session: session, origin: origin, items: files,
      message: "\(Count.text(files, "file")) remaining: \(why); \(remedy)")
  }

  private func isEphemeral(_ session: String) -> Bool {
    jobs.plan.sessions.contains { $0.identifier == session && $0.kind == .ephemeral }
  }

  private func dropped(_ node: Int, _ drop: LaunchState.DroppedIDs) -> EditEffect {
    EditEffect(
      .uploadIDs, manifest: jobs.plan.manifests[jobs.plan.nodes[node].manifest.index],
      upload: jobs.plan.nodes[node].name,
      session: jobs.plan.sessions[jobs.plan.nodes[node].session.index].identifier, items: drop.items,
      message:
        "dropped \(Count.text(drop.items, "upload ID")): \(drop.reason); these files are sent again from the start"
    )
  }
}
