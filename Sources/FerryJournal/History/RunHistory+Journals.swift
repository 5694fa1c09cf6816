import FerryPlan
import GRDB

/// Which sessions have a journal: one that is not there any more is a loss, and not a new session.
extension RunHistory {
  /// The sessions whose journal has to be there.
  ///
  /// Those of runs before schema 5 are known by the rates of their uploads. A session that was always ephemeral has
  /// rates too, and no lock file.
  ///
  /// - Parameter locked: the sessions that have a lock file (`StateDirectory.lockedSessions`).
  package func knownJournals(locked: Set<String>) throws(JournalError) -> Set<String> {
    try read { try Self.knownJournals($0, locked: locked) }
  }

  /// The same, of a `ferry.db` that this process does not have open: it is only read, and closed.
  package static func knownJournals(in state: StateDirectory) throws(JournalError) -> Set<String> {
    let history = try openForReading(in: state)
    // It was only read.
    defer { try? history.close() }
    return try history.knownJournals(locked: Set(state.lockedSessions()))
  }

  static func knownJournals(_ db: Database, locked: Set<String>) throws -> Set<String> {
    let registered = try String.fetchSet(db, sql: "SELECT session FROM journal")
    let sending = try String.fetchSet(db, sql: "SELECT DISTINCT session FROM rate")
    return registered.union(sending.intersection(locked))
  }

  /// Removes a session from what is known, with how fast its uploads went: its journal is to be removed, or is taken
  /// as gone.
  package func forget(session: String) throws(JournalError) {
    try write { db in
      try db.execute(sql: "DELETE FROM journal WHERE session = ?", arguments: [session])
      try db.execute(sql: "DELETE FROM rate WHERE session = ?", arguments: [session])
    }
  }

  /// Each of these has a journal, which is on the disk.
  static func register(journals: [String], at now: Instant, _ db: Database) throws {
    for session in journals {
      try db.execute(
        sql: "INSERT INTO journal (session, registered_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        arguments: [session, now.nanoseconds])
    }
  }
}
