import FerryPlan
import GRDB

/// Records the outcomes of requests and fetches of earlier launches. Each change is synced when the method returns. The
/// caller holds the session's lock, and no run writes to the journal.
extension SessionJournal {
  /// Ends a request or fetch with which a launch was killed: it becomes ambiguous.
  ///
  /// - Parameter node: the ID of its row. A row without an intent is not changed.
  package func endIntent(of node: Int64, at now: Instant) throws(JournalError) {
    let reason = RecordedFailure.interruptedRequest
    try transaction { db in
      try db.execute(
        sql: """
          UPDATE node SET state = \(ItemState.ambiguous.rawValue), intent = NULL, closed_at = ?, failure_code = ?,
          failure_status = NULL, failure_message = ? WHERE id = ? AND intent IS NOT NULL AND \(Self.isOpen)
          """,
        arguments: [now.nanoseconds, reason.code.rawValue, reason.message, node])
    }
  }

  /// Records the outcome of a request or fetch that another row shows.
  ///
  /// - Parameter node: the ID of its row.
  package func recordOutcome(of node: Int64, as other: NodeRow, at now: Instant) throws(JournalError) {
    try transaction { db in
      try db.execute(
        sql: """
          UPDATE node SET round = ?, state = ?, intent = NULL, captures = NULL, secret_captures = NULL, failed_at = NULL,
          closed_at = ?, failure_code = ?, failure_status = ?, failure_message = ? WHERE id = ?
          """,
        arguments: [
          other.round, Int64(other.state.rawValue), (other.closedAt ?? now).nanoseconds,
          other.failure?.code.rawValue,
          other.failure?.status.map { Int64($0) }, other.failure?.message, node,
        ])
    }
  }

  /// Forgets the last attempt of a request or fetch, which another journal has recorded.
  ///
  /// - Parameter node: the ID of its row.
  package func forgetAttempt(of node: Int64) throws(JournalError) {
    try transaction { db in
      try db.execute(
        sql: """
          UPDATE node SET round = 0, state = \(ItemState.queued.rawValue), intent = NULL, captures = NULL,
          secret_captures = NULL, closed_at = NULL, failure_code = NULL, failure_status = NULL, failure_message = NULL,
          failed_at = NULL WHERE id = ?
          """,
        arguments: [node])
    }
  }
}
