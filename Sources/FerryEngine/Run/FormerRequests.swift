import FerryJournal
import FerryPlan

/// Requests and fetches that earlier launches may have executed in the open rounds, and that an edit has since moved to another
/// session or origin, removed, or renamed. In a round, such a request is sent again only after the decision that it was not
/// executed.
struct FormerRequests {
  /// The row of a request or a fetch whose outcome is unknown, or was unknown until the user recorded that it was executed,
  /// and the session whose journal has it.
  struct Entry {
    var session: String
    /// A row that a killed launch has left with an intent is ambiguous here.
    var row: NodeRow
    /// The manifest that has the same request or fetch under another session or origin; `nil` for a manifest that was
    /// previously named differently.
    var manifest: ManifestID?
    /// The row as it was found.
    fileprivate var found: NodeRow
    /// Whether a killed launch has left the row with an intent.
    var isInterrupted = false
    /// Why the row could not be moved.
    var obstacle: RecordedFailure?
  }

  private(set) var entries: [Entry] = []

  /// No requests.
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
    var search = FormerRequestSearch(plan: jobs.plan, journals: journals, history: history, state: state)
    for manifest in jobs.manifests {
      let (name, round) = (jobs.plan.manifests[manifest], rounds[manifest])
      if continued.contains(manifest) {
        search.wanted[name] = .init(round: round, manifest: ManifestID(manifest))
        // Without one of these reasons, the journals of the other sessions are not opened.
        if try search.hasOpenRequest(manifest, round: round)
          || history.hasUnendedRun(of: name, round: round, except: run)
        {
          search.isEverywhere = true
        }
      }
      for former in try history.openManifests(atPath: AbsolutePath.text(of: jobs.all[manifest].path))
      where !jobs.plan.manifests.contains(former) {
        guard let round = try history.latestRound(manifest: former)?.number else { continue }
        search.wanted[former] = .init(round: round, manifest: nil)
        search.isEverywhere = true
      }
    }
    entries = search.wanted.isEmpty ? [] : try search.entries(notice)
  }

  /// The entry that determines the state of a request or fetch in this round; `nil` if its own row does.
  ///
  /// - Parameter own: the node's own row.
  func entry(for node: Node, in plan: Plan, own: NodeRow?, round: Int64) -> Entry? {
    if let own, own.round == round, own.state.isClosed || own.hasIntent { return nil }
    let meant = entries.filter { $0.isMeant(node, in: plan) }
    return meant.first(where: \.row.isInDoubt) ?? meant.first
  }

  /// The entries that determine the state of no node.
  func unused(used: [NodeID: Entry]) -> [Entry] {
    entries.filter { entry in
      !used.values.contains { $0.session == entry.session && $0.row.id == entry.row.id }
    }
  }

  /// Records the outcomes of killed launches as ambiguous, so that the user can resolve them. If only the session was
  /// edited, the row moves to the node's journal. If only the origin was edited, the node's row gets the outcome when the user
  /// has recorded it.
  ///
  /// A row in a session that another process holds, or whose journal cannot be written, remains; a later run moves it.
  mutating func settle(
    _ plan: Plan, rounds: [Int64], _ journals: SessionJournals, _ history: RunHistory,
    in state: StateDirectory, writtenBy version: String, at now: Instant
  ) throws(JournalError) {
    var rest: [Entry] = []
    for var entry in entries {
      let source = FormerJournal(of: entry, journals, history, state, version, at: now)
      let move = try Move(of: entry, plan, rounds, journals)
      do throws(JournalError) {
        if let move, !move.isRecorded, !entry.row.isInDoubt || move.isToOtherSession {
          // If the process is killed before the former row is forgotten, the next run forgets it.
          let isFree = try source.write { former throws(JournalError) in
            try move.journal.recordOutcome(of: move.own, as: entry.row, at: now)
            if move.isToOtherSession { try former.forgetAttempt(of: entry.row.id) }
          }
          if isFree { continue }
          entry.obstacle = .heldElsewhere(entry.session)
        } else if let move, move.isRecorded, move.isToOtherSession {
          _ = try source.write { former throws(JournalError) in try former.forgetAttempt(of: entry.row.id) }
          continue
        } else if entry.isInterrupted {
          let isFree = try source.write { former throws(JournalError) in
            try former.endIntent(of: entry.row.id, at: now)
          }
          if !isFree { entry.obstacle = .heldElsewhere(entry.session) }
        }
      } catch {
        entry.obstacle = .unrecorded(entry.session, error)
      }
      rest.append(entry)
    }
    entries = rest
  }
}

/// The node's own row, to which the outcome of a former request moves.
private struct Move {
  let journal: SessionJournal
  let own: Int64
  /// Whether an earlier run was killed after it had recorded the outcome in this row.
  let isRecorded: Bool
  /// Whether the former row is in another journal.
  let isToOtherSession: Bool

  /// `nil` if the plan has no such node, if the node has ended by itself, or if its journal does not store anything.
  init?(
    of entry: FormerRequests.Entry, _ plan: Plan, _ rounds: [Int64], _ journals: SessionJournals
  ) throws(JournalError) {
    guard let manifest = entry.manifest, let node = plan.nodes.first(where: { entry.isMeant($0, in: plan) }),
      let journal = journals.all[node.session.index], journal.isOnDisk,
      let row = try journals.row(of: node, in: plan)
    else { return nil }
    let hasEnded = row.round == rounds[manifest.index] && row.state.isClosed
    guard !hasEnded || (row.state == entry.row.state && row.failure == entry.row.failure) else { return nil }
    (self.journal, own, isRecorded) = (journal, row.id, hasEnded)
    isToOtherSession = journal.identifier != entry.session
  }
}

extension FormerRequests.Entry {
  fileprivate init(_ row: NodeRow, in session: String, of manifest: ManifestID?) {
    (self.session, self.row, self.manifest, found) = (session, row, manifest, row)
    self.row.hasIntent = false
    guard !row.state.isClosed else { return }
    (isInterrupted, self.row.state, self.row.failure) = (true, .ambiguous, .interruptedRequest)
  }

  /// Whether a node is the request or fetch of the row, with another session or another origin. With both, it is another
  /// request.
  fileprivate func isMeant(_ node: Node, in plan: Plan) -> Bool {
    guard node.manifest == manifest, node.name == row.name, let identity = node.rowIdentity,
      identity.kind == row.kind
    else { return false }
    return identity.origin == row.origin || plan.sessions[node.session.index].identifier == session
  }
}

/// The journal of the session in which a request was sent.
private struct FormerJournal {
  let session: String
  let row: NodeRow
  let own: SessionJournal?
  let history: RunHistory
  let state: StateDirectory
  let version: String
  let now: Instant

  init(
    of entry: FormerRequests.Entry, _ journals: SessionJournals, _ history: RunHistory,
    _ state: StateDirectory, _ version: String, at now: Instant
  ) {
    let session = entry.session
    own = journals.all.lazy.compactMap(\.self).first { $0.isOnDisk && $0.identifier == session }
    row = entry.found
    (self.session, self.history, self.state, self.version, self.now) = (session, history, state, version, now)
  }

  /// Calls `body` with the journal. Returns `false` without a call if another process holds the session, or has changed the
  /// row since it was found.
  func write(_ body: (SessionJournal) throws(JournalError) -> Void) throws(JournalError) -> Bool {
    if let own {
      try body(own)
      return true
    }
    guard case .acquired(let lock) = try SessionLock.try(session: session, in: state, at: now) else {
      return false
    }
    defer { lock.release() }
    let known = try history.knownJournals(locked: Set(state.lockedSessions()))
    let journal = try SessionJournal.openExisting(
      session: session, in: state, known: known, writtenBy: version, at: now)
    defer { try? journal?.close() }  // All changes are already synced.
    guard let journal, try journal.nodes.contains(row) else { return false }
    try body(journal)
    return true
  }
}

/// Searches the journals for requests and fetches that the plan does not reach.
private struct FormerRequestSearch {
  struct Wanted {
    var round: Int64
    var manifest: ManifestID?
  }

  let plan: Plan
  let journals: SessionJournals
  let history: RunHistory
  let state: StateDirectory
  /// By the manifest's name in the journals.
  var wanted: [String: Wanted] = [:]
  /// Whether to search the journals of sessions that the plan does not use.
  var isEverywhere = false

  init(plan: Plan, journals: SessionJournals, history: RunHistory, state: StateDirectory) {
    (self.plan, self.journals, self.history, self.state) = (plan, journals, history, state)
  }

  /// Whether the manifest has a request or fetch that has not ended in its round.
  func hasOpenRequest(_ manifest: Int, round: Int64) throws(JournalError) -> Bool {
    for node in plan.nodes where node.manifest.index == manifest && [.request, .fetch].contains(node.kind) {
      guard let row = try journals.row(of: node, in: plan), row.round == round, row.state.isClosed else {
        return true
      }
    }
    return false
  }

  func entries(_ notice: (String) -> Void) throws -> [FormerRequests.Entry] {
    var found: [FormerRequests.Entry] = []
    // A file that this process has open for writing must not be opened again: closing it would drop SQLite's locks.
    var own: Set<String> = []
    for (session, journal) in journals.all.enumerated() {
      guard let journal, journal.isOnDisk else { continue }
      own.insert(journal.identifier)
      let reached = Set(
        plan.nodes.filter { $0.session.index == session }.compactMap { node in
          node.rowIdentity.map { Reached(node.manifest, node.name, $0) }
        })
      found += try entries(of: journal).filter { entry in
        guard let manifest = entry.manifest else { return true }
        return !reached.contains(
          Reached(manifest, entry.row.name, .init(kind: entry.row.kind, origin: entry.row.origin)))
      }
    }
    guard isEverywhere else { return found }
    let known = try history.knownJournals(locked: Set(state.lockedSessions()))
    for session in Set(try state.sessions()).union(known).subtracting(own).sorted() {
      do throws(JournalError) {
        let journal = try SessionJournal.openForReading(session: session, in: state, known: known)
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        found += try entries(of: journal)
      } catch {
        // A problem in another session does not stop this run.
        notice(
          "cannot determine whether requests of this manifest were sent in session '\(session)': \(error)")
      }
    }
    return found
  }

  private struct Reached: Hashable {
    var manifest: ManifestID
    var name: String
    var identity: Node.RowIdentity

    init(_ manifest: ManifestID, _ name: String, _ identity: Node.RowIdentity) {
      (self.manifest, self.name, self.identity) = (manifest, name, identity)
    }
  }

  private func entries(of journal: SessionJournal) throws(JournalError) -> [FormerRequests.Entry] {
    try journal.nodes.compactMap { row in
      guard let wanted = wanted[row.manifest], row.round == wanted.round, !row.kind.hasItems,
        row.isInDoubt || row.failure?.code == .resolved
      else { return nil }
      return FormerRequests.Entry(row, in: journal.identifier, of: wanted.manifest)
    }
  }
}

extension RecordedFailure {
  fileprivate static func heldElsewhere(_ session: String) -> RecordedFailure {
    RecordedFailure(
      code: .waiting,
      message: "the request may have been executed in session '\(session)', which another process uses")
  }

  fileprivate static func unrecorded(_ session: String, _ error: JournalError) -> RecordedFailure {
    RecordedFailure(
      code: .waiting,
      message:
        "the request may have been executed in session '\(session)', whose journal cannot be written: \(error)"
    )
  }
}
