import FerryPlan
import GRDB

/// Records which sessions have a journal. If one of these journals is missing, it was lost; the session is
/// not new.
extension RunHistory {
  /// The sessions whose journal must exist: those in `ferry.db`, and those of which only the record of their transactions
  /// remains.
  ///
  /// - Parameter locked: the sessions that have a lock file (`StateDirectory.lockedSessions`).
  package func knownJournals(locked: Set<String>) throws(JournalError) -> Set<String> {
    try registeredJournals(locked: locked).union(state.lostJournals)
  }

  /// The sessions whose journal must exist according to `ferry.db`.
  package func registeredJournals(locked: Set<String>) throws(JournalError) -> Set<String> {
    try read { try Self.registeredJournals($0, locked: locked) }
  }

  /// Like `knownJournals(locked:)`, for a `ferry.db` that this process does not have open. It is opened for
  /// reading and closed again.
  package static func knownJournals(in state: StateDirectory) throws(JournalError) -> Set<String> {
    try registeredJournals(in: state).union(state.lostJournals)
  }

  /// Like `registeredJournals(locked:)`, for a `ferry.db` that this process does not have open.
  package static func registeredJournals(in state: StateDirectory) throws(JournalError) -> Set<String> {
    let history = try openForReading(in: state)
    // The history was only read, so a failed close cannot lose data.
    defer { try? history.close() }
    return try history.registeredJournals(locked: Set(state.lockedSessions()))
  }

  /// Sessions of runs before schema 5 are identified by the rates of their uploads. A session that was
  /// always ephemeral also has rates, but does not have a lock file.
  static func registeredJournals(_ db: Database, locked: Set<String>) throws -> Set<String> {
    let registered = try String.fetchSet(db, sql: "SELECT session FROM journal")
    let sending = try String.fetchSet(db, sql: "SELECT DISTINCT session FROM rate")
    return registered.union(sending.intersection(locked))
  }

  /// Removes a session and the rates of its uploads from the history. Called before its journal is removed
  /// or accepted as lost.
  package func forget(session: String) throws(JournalError) {
    try write { db in try Self.forget(session: session, db) }
  }

  static func forget(session: String, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM journal WHERE session = ?", arguments: [session])
    try db.execute(sql: "DELETE FROM rate WHERE session = ?", arguments: [session])
  }

  /// Records that each of these sessions has a journal, which is already on disk.
  static func register(journals: [String], at now: Instant, _ db: Database) throws {
    for session in journals {
      try db.execute(
        sql: "INSERT INTO journal (session, registered_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        arguments: [session, now.nanoseconds])
      // The session is in use again.
      try db.execute(sql: "DELETE FROM removed_session WHERE session = ?", arguments: [session])
    }
  }
}
