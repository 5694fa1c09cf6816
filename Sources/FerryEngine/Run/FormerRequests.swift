import FerryJournal
import FerryPlan

/// What earlier launches have recorded in the open rounds about requests and fetches that an edit has since moved to another
/// session or origin, removed, or renamed.
struct FormerRequests {
  /// The row of a request or a fetch that may have been executed or is done, and the session whose journal has it.
  struct Entry {
    var session: String
    /// A row that a killed launch has left with an intent is ambiguous here.
    var row: NodeRow
    /// Whether a killed launch has left the row with an intent.
    var isInterrupted = false
  }

  /// By manifest.
  private(set) var entries: [[Entry]] = []
  /// The rows under former names of the manifests.
  private(set) var underFormerNames: [[Entry]] = []

  /// No rows.
  init() {}

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - continued: the manifests whose rounds an earlier launch has opened.
  ///   - run: the ID of this run; `nil` for a preview.
  ///   - notice: receives messages, one line at a time.
  init(
    _ jobs: Jobs, rounds: [Int64], continued: Set<Int>, run: String? = nil, _ journals: SessionJournals,
    _ history: RunHistory, in state: StateDirectory, notice: (String) -> Void
  ) throws {
    let search = FormerRequestSearch(plan: jobs.plan, journals: journals, history: history, state: state)
    for manifest in jobs.manifests {
      let (name, round) = (jobs.plan.manifests[manifest], rounds[manifest])
      if continued.contains(manifest) {
        // Without one of these reasons, the journals of the other sessions are not opened.
        let everywhere =
          try search.hasOpenRequest(manifest, round: round)
          || history.hasUnendedRun(of: name, round: round, except: run)
        entries.append(try search.rows(of: name, round: round, everywhere: everywhere, notice))
      } else {
        entries.append([])
      }
      underFormerNames.append([])
      for former in try history.openManifests(atPath: AbsolutePath.text(of: jobs.all[manifest].path))
      where former != name {
        guard let round = try history.latestRound(manifest: former)?.number else { continue }
        underFormerNames[manifest] += try search.rows(of: former, round: round, everywhere: true, notice)
      }
    }
  }

  /// The row that applies to a request or fetch in this round instead of its own one: of a request that may have been
  /// executed, or one of the same origin that is done.
  ///
  /// - Parameter own: the node's own row.
  func entry(for node: Node, own: NodeRow?, round: Int64) -> Entry? {
    guard let identity = node.rowIdentity, entries.indices.contains(node.manifest.index) else { return nil }
    if let own, own.round == round, own.state.isClosed || own.hasIntent { return nil }
    let candidates = entries[node.manifest.index].filter {
      $0.row.name == node.name && $0.row.kind == identity.kind
    }
    return candidates.first(where: \.row.isInDoubt) ?? candidates.first { $0.row.origin == identity.origin }
  }

  /// Records that the requests of killed launches are ambiguous, so that the user can resolve them. In a session that
  /// another process holds, or whose journal cannot be written, a later run records it.
  ///
  /// - Parameter notice: receives messages, one line at a time.
  func endInterrupted(
    _ journals: SessionJournals, _ history: RunHistory, in state: StateDirectory, writtenBy version: String,
    at now: Instant, notice: (String) -> Void
  ) throws(JournalError) {
    let all = (entries + underFormerNames).joined().filter(\.isInterrupted)
    for (session, found) in Dictionary(grouping: all, by: \.session).sorted(by: { $0.key < $1.key }) {
      let nodes = found.map(\.row.id)
      if let journal = journals.all.lazy.compactMap(\.self).first(where: {
        $0.isOnDisk && $0.identifier == session
      }) {
        try journal.endIntents(of: nodes, at: now)
        continue
      }
      do throws(JournalError) {
        guard case .acquired(let lock) = try SessionLock.try(session: session, in: state, at: now) else {
          continue
        }
        defer { lock.release() }
        let known = try history.knownJournals(locked: Set(state.lockedSessions()))
        let journal = try SessionJournal.openExisting(
          session: session, in: state, known: known, writtenBy: version, at: now)
        defer { try? journal?.close() }  // All changes are already synced.
        try journal?.endIntents(of: nodes, at: now)
      } catch {
        // A problem in another session does not stop this run.
        notice("cannot record in session '\(session)' that a request is ambiguous: \(error)")
      }
    }
  }
}

extension FormerRequests.Entry {
  fileprivate init(session: String, found row: NodeRow) {
    (self.session, self.row) = (session, row)
    guard row.isInDoubt else { return }
    self.row.hasIntent = false
    guard !row.state.isClosed else { return }
    (isInterrupted, self.row.state, self.row.failure) = (true, .ambiguous, .interruptedRequest)
  }
}

/// Searches the journals for requests and fetches that the plan does not reach.
private struct FormerRequestSearch {
  let plan: Plan
  let journals: SessionJournals
  let history: RunHistory
  let state: StateDirectory

  /// Whether the manifest has a request or fetch that has not ended in its round.
  func hasOpenRequest(_ manifest: Int, round: Int64) throws(JournalError) -> Bool {
    for node in plan.nodes where node.manifest.index == manifest && [.request, .fetch].contains(node.kind) {
      guard let row = try journals.row(of: node, in: plan), row.round == round, row.state.isClosed else {
        return true
      }
    }
    return false
  }

  func rows(
    of manifest: String, round: Int64, everywhere: Bool, _ notice: (String) -> Void
  ) throws -> [FormerRequests.Entry] {
    var found: [FormerRequests.Entry] = []
    // A file that this process has open for writing must not be opened again: closing it would drop SQLite's locks.
    var own: Set<String> = []
    for (session, journal) in journals.all.enumerated() {
      guard let journal, journal.isOnDisk else { continue }
      own.insert(journal.identifier)
      let reached = reached(SessionID(session), manifest)
      found += try rows(of: manifest, round: round, in: journal).filter {
        !reached[$0.row.name, default: []].contains(.init(kind: $0.row.kind, origin: $0.row.origin))
      }
    }
    guard everywhere else { return found }
    let known = try history.knownJournals(locked: Set(state.lockedSessions()))
    for session in Set(try state.sessions()).union(known).subtracting(own).sorted() {
      do throws(JournalError) {
        let journal = try SessionJournal.openForReading(session: session, in: state, known: known)
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        found += try rows(of: manifest, round: round, in: journal)
      } catch {
        // A problem in another session does not stop this run.
        notice(
          "cannot determine whether a request of manifest '\(manifest)' was sent in session '\(session)': \(error)"
        )
      }
    }
    return found
  }

  private func rows(
    of manifest: String, round: Int64, in journal: SessionJournal
  ) throws(JournalError) -> [FormerRequests.Entry] {
    try journal.nodes.filter {
      $0.manifest == manifest && $0.round == round && !$0.kind.hasItems && ($0.isInDoubt || $0.state == .done)
    }.map { FormerRequests.Entry(session: journal.identifier, found: $0) }
  }

  /// The identities of the manifest's rows in a session, by name.
  private func reached(_ session: SessionID, _ manifest: String) -> [String: Set<Node.RowIdentity>] {
    var reached: [String: Set<Node.RowIdentity>] = [:]
    for node in plan.nodes
    where node.session == session && plan.manifests[node.manifest.index] == manifest {
      if let identity = node.rowIdentity { reached[node.name, default: []].insert(identity) }
    }
    return reached
  }
}
