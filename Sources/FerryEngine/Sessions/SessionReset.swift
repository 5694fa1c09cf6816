import FerryJournal
import FerryPlan

/// A clean slate: drops what sessions have still to do, and remembers what they have done.
package struct SessionReset {
  /// What became of one session. Its keys are an interface.
  package struct Dropped: Encodable, Sendable {
    package var session: String
    package var items: Int
    /// Of those: with an upload ID, which the server goes on keeping.
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
    case inUse(session: String, pid: Int32?)
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
  /// manifests. Takes the sessions' locks meanwhile, all of them before anything is dropped.
  ///
  /// - Parameters:
  ///   - sessions: identifiers.
  ///   - areKnown: whether one that has no journal is a mistake.
  package func reset(sessions: [String], areKnown: Bool = true) throws -> Ending {
    let now = LaunchClock.wallTime
    let names = Set(sessions).sorted()
    let look = try Inbox.openForReading(in: state)
    // It was only read.
    defer { try? look.close() }
    let catalog = SessionCatalog(state: state, inbox: look)
    if areKnown { try catalog.check(names) }
    let present = try names.filter { try catalog.knows($0) }
    guard !present.isEmpty else { return .reset([]) }
    var locks: [SessionLock] = []
    defer { for lock in locks { lock.release() } }
    for name in present {
      switch try SessionLock.try(session: name, in: state, at: now) {
      case .acquired(let lock): locks.append(lock)
      case .held(let pid, _): return .inUse(session: name, pid: pid)
      }
    }
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Each of its writes is synced.
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Likewise.
    return .reset(try present.map { try clear($0, history, inbox, at: now) })
  }

  /// One session, whose lock the caller holds, and whose journal nobody has open.
  private func clear(
    _ session: String, _ history: RunHistory, _ inbox: Inbox, at now: Instant
  ) throws -> Dropped {
    var dropped = Dropped(session: session, items: 0, uploadIds: 0, unanswered: 0, notes: 0, closedRounds: [])
    let notes = try inbox.notes(session: session)
    var manifests = Set(notes.compactMap(\.manifest))
    if state.sessions().contains(session) {
      let journal = try SessionJournal.open(session: session, in: state, writtenBy: version, at: now)
      defer { try? journal.close() }  // What was dropped is synced.
      let counts = try journal.reset()
      (dropped.items, dropped.uploadIds, dropped.unanswered) = (
        counts.items, counts.withUploadID, counts.unanswered
      )
      manifests.formUnion(try journal.nodes.map(\.manifest))
    }
    try inbox.remove(notes.map(\.id))
    dropped.notes = notes.count
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    dropped.closedRounds = try manifests.sorted().compactMap { try rounds.close($0, at: now) }
    return dropped
  }
}
