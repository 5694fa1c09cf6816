import FerryPlan
import GRDB

/// A session that `ferry cancel` removed together with its journal (`force_quit: remove_session`).
package struct RemovedSession: Hashable, Sendable {
  /// The session's identifier.
  package var session: String
  /// The reason why the session's items ended.
  package var failure: RecordedFailure
  /// The number of items that were canceled.
  package var items: Int
  package var removedAt: Instant

  package init(session: String, failure: RecordedFailure, items: Int, removedAt: Instant) {
    self.session = session
    self.failure = failure
    self.items = items
    self.removedAt = removedAt
  }
}

extension RunHistory {
  /// The sessions that were removed and that no run has used since, by identifier.
  package func removedSessions() throws(JournalError) -> [RemovedSession] {
    try read { db in
      try db.rows(
        "SELECT * FROM removed_session ORDER BY session", of: "removed_session", in: self.path
      ) { row in
        RemovedSession(
          session: try row.value("session"),
          failure: RecordedFailure(
            code: FailureCode(rawValue: try row.value("failure_code")),
            message: try row.value("failure_message")),
          items: Int(clamping: try row.value("items", as: Int64.self)),
          removedAt: Instant(nanoseconds: try row.value("removed_at")))
      }
    }
  }

  /// Removes a session from the history, and records why the session was removed. Called before its journal
  /// is removed.
  package func remove(_ removed: RemovedSession) throws(JournalError) {
    try write { db in
      try Self.forget(session: removed.session, db)
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO removed_session (session, failure_code, failure_message, items, removed_at)
          VALUES (?, ?, ?, ?, ?)
          """,
        arguments: [
          removed.session, removed.failure.code.rawValue, removed.failure.message, removed.items,
          removed.removedAt.nanoseconds,
        ])
    }
  }
}
