import FerryJournal
import FerryPlan
import FerryReport

/// Drops the unfinished work of sessions, and keeps the record of completed work.
package struct SessionReset {
  /// The result for one session. The JSON keys are a stable public interface.
  package struct Dropped: Encodable, Sendable {
    package var session: String
    package var items: Int
    /// The number of dropped items that had an upload ID. Each of these IDs is now an orphan.
    package var uploadIds: Int
    /// The number of steps without a response that may have reached the server, and may therefore be sent a
    /// second time.
    package var unanswered: Int
    /// The number of unread notes.
    package var notes: Int
    /// The number of removed parts of interrupted downloads.
    package var parts: Int
    package var closedRounds: [ClosedRound]
  }

  package enum Ending: Sendable {
    case reset([Dropped])
    /// Another process holds this session; nothing was dropped.
    case inUse(SessionInUse)
    /// These requests may have reached the server and would be sent a second time; nothing was dropped.
    case unanswered([UnansweredRequest])
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// Drops the queues, resume delays, pending events and unread notes of sessions, and closes the open rounds of
  /// their manifests. The sessions' locks are held during this time, and all journals are opened before anything is
  /// dropped.
  ///
  /// Each session is reset in one transaction. If the disk fails between two sessions, the error lists the sessions
  /// that were dropped.
  ///
  /// - Parameters:
  ///   - sessions: identifiers.
  ///   - areKnown: whether an unknown session is an error.
  ///   - dropsUnanswered: whether to continue although steps may have reached the server: those of the sessions, and
  ///     requests of the same rounds in other sessions.
  ///   - patience: how long to wait for other processes.
  package func reset(
    sessions: [String], areKnown: Bool = true, dropsUnanswered: Bool,
    patience: LockPatience = LockPatience()
  ) throws -> Ending {
    let present = try present(Set(sessions).sorted(), areKnown: areKnown)
    guard !present.isEmpty else { return .reset([]) }
    var locks: [SessionLock] = []
    defer { for lock in locks { lock.release() } }
    switch try SessionLocks.take(present, in: state, patience: patience, now: { LaunchClock.wallTime }) {
    case .locked(let all): locks = all
    case .inUse(let session): return .inUse(session)
    }
    let now = LaunchClock.wallTime
    var journals: [String: SessionJournal] = [:]
    // All changes are already synced.
    defer { for journal in journals.values { try? journal.close() } }
    let known = try RunHistory.knownJournals(in: state)
    for name in present {
      journals[name] = try SessionJournal.openExisting(
        session: name, in: state, known: known, writtenBy: version, at: now)
    }
    // Files that are submitted from now on remain.
    let notes = try notes(for: present)
    if !dropsUnanswered {
      let manifests = Set(try journals.values.flatMap { try $0.nodes.map(\.manifest) })
        .union(notes.values.joined().compactMap(\.manifest))
      let own = try present.flatMap { session in
        try journals[session].map { try unanswered(session, $0) } ?? []
      }
      let all = try own + unanswered(of: manifests, outside: Set(present))
      guard all.isEmpty else { return .unanswered(all) }
    }
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Every write is already synced.
    var cleared: [(dropped: Dropped, manifests: Set<String>)] = []
    for name in present {
      do {
        cleared.append(try clear(name, journals[name], history, at: now))
      } catch {
        throw EngineFault.halfway(error, "dropped", sessions: cleared.map(\.dropped.session))
      }
    }
    return .reset(try finish(cleared, notes, history, at: now))
  }

  /// The unread notes of the sessions. The rounds of their manifests are closed, too.
  private func notes(for sessions: [String]) throws -> [String: [Note]] {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    return Dictionary(uniqueKeysWithValues: try sessions.map { ($0, try inbox.notes(session: $0)) })
  }

  private func unanswered(
    _ session: String, _ journal: SessionJournal,
    where isMeant: (SessionJournal.UnansweredStep) -> Bool = { _ in true }
  ) throws -> [UnansweredRequest] {
    try journal.unansweredSteps().filter(isMeant).map {
      UnansweredRequest(session: session, manifest: $0.manifest, node: $0.node, path: $0.path, step: $0.step)
    }
  }

  /// The requests and fetches in other sessions that may have been executed in the open rounds of the manifests. If these
  /// rounds were closed, the next run would send the requests again without reporting them as ambiguous.
  ///
  /// - Throws: `JournalError` if the journal of a session that the manifests use cannot be read. Other journals that
  ///   cannot be read are skipped.
  private func unanswered(
    of manifests: Set<String>, outside sessions: Set<String>
  ) throws -> [UnansweredRequest] {
    let history = try RunHistory.openForReading(in: state)
    // The history was only read, so closing it cannot lose data.
    defer { try? history.close() }
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    let open = Set(try manifests.compactMap { try rounds.open($0) })
    guard !open.isEmpty else { return [] }
    let known = try RunHistory.knownJournals(in: state)
    let all = Set(try state.sessions()).union(known)
    let used =
      try KnownJobs(history: history, environment: environment).sessions(of: open.map(\.manifest)) ?? all
    // A request may have been moved to another session since it was sent.
    return try all.subtracting(sessions).sorted().flatMap { session in
      do {
        let journal = try SessionJournal.openForReading(session: session, in: state, known: known)
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        return try unanswered(session, journal) {
          $0.path == nil && open.contains(ClosedRound(manifest: $0.manifest, round: $0.round))
        }
      } catch is JournalError where !used.contains(session) {
        return []
      }
    }
  }

  private func present(_ names: [String], areKnown: Bool) throws -> [String] {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    let catalog = SessionCatalog(state: state, inbox: inbox)
    if areKnown { try catalog.check(names) }
    return try names.filter { try catalog.knows($0) }
  }

  /// Drops the work of a session whose lock this process holds. Without a journal, there is nothing to drop.
  private func clear(
    _ session: String, _ journal: SessionJournal?, _ history: RunHistory, at now: Instant
  ) throws -> (Dropped, Set<String>) {
    var dropped = Dropped(
      session: session, items: 0, uploadIds: 0, unanswered: 0, notes: 0, parts: 0, closedRounds: [])
    guard let journal else { return (dropped, []) }
    // Remove the parts before the journal is reset, because the reset also drops the items' paths. An item without a
    // part starts over.
    dropped.parts = try removeItemParts(of: session, journal, history)
    let counts = try journal.reset(at: now)
    (dropped.items, dropped.uploadIds, dropped.unanswered) = (
      counts.items, counts.withUploadID, counts.unanswered
    )
    return (dropped, Set(try journal.nodes.map(\.manifest)))
  }

  /// Removes the parts that interrupted items of download batches have left, and returns their number.
  private func removeItemParts(
    of session: String, _ journal: SessionJournal, _ history: RunHistory
  ) throws -> Int {
    var count = 0
    let batches = Dictionary(grouping: try journal.nodes.filter { $0.kind == .download }, by: \.manifest)
    for (manifest, nodes) in batches {
      guard case .job(let job) = try KnownJobs(history: history, environment: environment).find(manifest)
      else { continue }
      for node in nodes {
        let owner = FetchPart.owner(session: session, manifest: manifest, node: node.name)
        try journal.forEachItem(node: node.id) { item in
          guard try item.state != .done else { return }
          if FetchPart(of: item.path, in: job.folder, owner: owner).remove() { count += 1 }
        }
      }
    }
    return count
  }

  /// Removes the parts that interrupted fetches of a session have left, and returns their number. The parts of fetches that
  /// the manifest no longer has are not known.
  private func removeParts(of session: String, _ manifest: String, _ history: RunHistory) throws -> Int {
    guard case .job(let job) = try KnownJobs(history: history, environment: environment).find(manifest) else {
      return 0
    }
    return job.plan.nodes.count { node in
      guard case .fetch(let work) = node.work,
        job.plan.sessions[work.step.session.index].identifier == session
      else { return false }
      return FetchPart(of: work, in: job.folder, session: session, manifest: manifest, node: node.name)
        .remove()
    }
  }

  /// Removes the sessions' notes and the parts of their fetches, and closes their rounds.
  private func finish(
    _ cleared: [(dropped: Dropped, manifests: Set<String>)], _ notes: [String: [Note]],
    _ history: RunHistory, at now: Instant
  ) throws -> [Dropped] {
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Every write is already synced.
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    return try cleared.map { dropped, manifests in
      var dropped = dropped
      let notes = notes[dropped.session] ?? []
      try inbox.remove(notes.map(\.id))
      dropped.notes = notes.count
      for manifest in manifests.union(notes.compactMap(\.manifest)).sorted() {
        dropped.parts += try removeParts(of: dropped.session, manifest, history)
        guard let round = try rounds.open(manifest) else { continue }
        try history.closeRound(manifest: manifest, number: round.round, at: now)
        dropped.closedRounds.append(round)
      }
      return dropped
    }
  }
}
