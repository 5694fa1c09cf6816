import FerryJournal
import FerryPlan

/// A clean slate: drops what sessions have still to do, and remembers what they have done.
package struct SessionReset {
  /// What became of one session. Its keys are an interface.
  package struct Dropped: Encodable, Sendable {
    package var session: String
    package var items: Int
    /// Of those: with an upload ID, which is an orphan now.
    package var uploadIds: Int
    /// Steps that may have reached the server and were not answered; they may be sent a second time.
    package var unanswered: Int
    /// Notes that nobody has read.
    package var notes: Int
    package var closedRounds: [ClosedRound]
  }

  package enum Ending: Sendable {
    case reset([Dropped])
    /// Another process has this one; nothing was dropped.
    case inUse(SessionInUse)
    /// These may have reached the server, and would be sent a second time; nothing was dropped.
    case unanswered([Unanswered])
  }

  /// What in a session may have reached the server.
  package struct Unanswered: Sendable {
    package var session: String
    package var step: SessionJournal.UnansweredStep
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// Drops queues, resume delays, owed events and unread notes of sessions, and closes the open rounds of their
  /// manifests. Takes the sessions' locks meanwhile, and opens their journals, all of them before anything is dropped.
  ///
  /// Each session is one transaction: where the disk fails between two of them, the error says which were dropped.
  ///
  /// - Parameters:
  ///   - sessions: identifiers.
  ///   - areKnown: whether one that has no journal is a mistake.
  ///   - dropsUnanswered: whether steps that may have reached the server are dropped too.
  ///   - patience: how long it waits for other processes.
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
    defer { for journal in journals.values { try? journal.close() } }  // What was dropped is synced.
    for name in present {
      journals[name] = try SessionJournal.openExisting(
        session: name, in: state, known: RunHistory.knownJournals(in: state), writtenBy: version,
        at: now)
    }
    if !dropsUnanswered {
      let unanswered = try present.flatMap { session in
        try journals[session]?.unansweredSteps().map { Unanswered(session: session, step: $0) } ?? []
      }
      guard unanswered.isEmpty else { return .unanswered(unanswered) }
    }
    var cleared: [(dropped: Dropped, manifests: Set<String>)] = []
    for name in present {
      do {
        cleared.append(try clear(name, journals[name], at: now))
      } catch {
        throw EngineFault.halfway(error, "dropped", sessions: cleared.map(\.dropped.session))
      }
    }
    return .reset(try finish(cleared, at: now))
  }

  private func present(_ names: [String], areKnown: Bool) throws -> [String] {
    let inbox = try Inbox.openForReading(in: state)
    // It was only read.
    defer { try? inbox.close() }
    let catalog = SessionCatalog(state: state, inbox: inbox)
    if areKnown { try catalog.check(names) }
    return try names.filter { try catalog.knows($0) }
  }

  /// A session whose lock is held here; without a journal there is nothing to drop.
  private func clear(
    _ session: String, _ journal: SessionJournal?, at now: Instant
  ) throws -> (Dropped, Set<String>) {
    var dropped = Dropped(session: session, items: 0, uploadIds: 0, unanswered: 0, notes: 0, closedRounds: [])
    guard let journal else { return (dropped, []) }
    let counts = try journal.reset(at: now)
    (dropped.items, dropped.uploadIds, dropped.unanswered) = (
      counts.items, counts.withUploadID, counts.unanswered
    )
    return (dropped, Set(try journal.nodes.map(\.manifest)))
  }

  /// Notes and rounds.
  private func finish(
    _ cleared: [(dropped: Dropped, manifests: Set<String>)], at now: Instant
  ) throws -> [Dropped] {
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Each of its writes is synced.
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Likewise.
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    return try cleared.map { dropped, manifests in
      var dropped = dropped
      let notes = try inbox.notes(session: dropped.session)
      try inbox.remove(notes.map(\.id))
      dropped.notes = notes.count
      for manifest in manifests.union(notes.compactMap(\.manifest)).sorted() {
        guard let round = try rounds.open(manifest) else { continue }
        try history.closeRound(manifest: manifest, number: round.round, at: now)
        dropped.closedRounds.append(round)
      }
      return dropped
    }
  }
}
