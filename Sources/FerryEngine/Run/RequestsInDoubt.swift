import FerryJournal
import FerryPlan

/// Requests and fetches that earlier launches may have executed in the open rounds, and whose rows the manifests no longer
/// reach because of an edit.
struct RequestsInDoubt {
  /// The row of a request or a fetch, and the session whose journal has it.
  struct Entry {
    var session: String
    var row: NodeRow
  }

  /// The rows of each manifest.
  private(set) var entries: [[Entry]]
  /// The rows of each manifest under former names.
  private(set) var former: [[Entry]]

  /// Finds no rows.
  init() { (entries, former) = ([], []) }

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - continued: the manifests whose rounds an earlier launch has opened.
  ///   - run: the ID of this run; `nil` for a preview.
  ///   - notice: receives messages, one line at a time.
  init(
    _ jobs: Jobs, rounds: [Int64], continued: Set<Int>, run: String? = nil, _ journals: SessionJournals,
    _ history: RunHistory, in state: StateDirectory, notice: (String) -> Void
  ) throws {
    let search = RequestSearch(plan: jobs.plan, journals: journals, state: state)
    entries = try jobs.manifests.map { manifest in
      guard continued.contains(manifest) else { return [] }
      let (name, round) = (jobs.plan.manifests[manifest], rounds[manifest])
      // Without one of these reasons, the journals of the other sessions are not opened.
      let everywhere =
        try history.hasUnendedRun(of: name, round: round, except: run) || search.hasNewRequest(manifest)
      return try search.rows(of: name, round: round, everywhere: everywhere, notice)
    }
    former = try jobs.manifests.map { manifest in
      try history.openManifests(atPath: AbsolutePath.text(of: jobs.all[manifest].path)).flatMap { name in
        guard name != jobs.plan.manifests[manifest], let round = try history.latestRound(manifest: name)
        else {
          return [Entry]()
        }
        return try search.rows(of: name, round: round.number, everywhere: true, notice)
      }
    }
  }

  /// Whether a request or fetch of the plan, which has not been attempted in this round, may have been executed in it in
  /// another session or at another origin.
  func contains(_ node: Node) -> Bool {
    guard let identity = node.rowIdentity, entries.indices.contains(node.manifest.index) else { return false }
    return entries[node.manifest.index].contains {
      $0.row.name == node.name && $0.row.kind == identity.kind
    }
  }
}

/// Searches the journals for requests and fetches whose outcome is unknown.
private struct RequestSearch {
  let plan: Plan
  let journals: SessionJournals
  let state: StateDirectory

  /// Whether a request or fetch of the manifest has never been attempted in its session.
  func hasNewRequest(_ manifest: Int) throws(JournalError) -> Bool {
    for node in plan.nodes where node.manifest.index == manifest && [.request, .fetch].contains(node.kind) {
      let row = try journals.row(of: node, in: plan)
      if row == nil || row?.round == 0 { return true }
    }
    return false
  }

  /// The rows that the plan does not reach.
  func rows(
    of manifest: String, round: Int64, everywhere: Bool, _ notice: (String) -> Void
  ) throws -> [RequestsInDoubt.Entry] {
    var found: [RequestsInDoubt.Entry] = []
    // A file that this process has open for writing must not be opened again: closing it would drop SQLite's locks.
    var own: Set<String> = []
    for (session, journal) in journals.all.enumerated() {
      guard let journal else { continue }
      own.insert(journal.identifier)
      let reached = reached(SessionID(session), manifest)
      found += try rows(of: manifest, round: round, in: journal).filter {
        !reached[$0.row.name, default: []].contains(.init(kind: $0.row.kind, origin: $0.row.origin))
      }
    }
    guard everywhere else { return found }
    for session in try state.sessions() where !own.contains(session) {
      do throws(JournalError) {
        let journal = try SessionJournal.openForReading(session: session, in: state)
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
  ) throws(JournalError) -> [RequestsInDoubt.Entry] {
    try journal.nodes.filter { $0.manifest == manifest && $0.round == round && $0.isInDoubt }.map {
      RequestsInDoubt.Entry(session: journal.identifier, row: $0)
    }
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
