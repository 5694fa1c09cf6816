import FerryPlan
import GRDB

extension SessionJournal {
  /// The maximum number of items that one transaction examines or deletes.
  private static let forgottenAtOnce = 10_000

  /// Deletes items that ended in one of these states before `limit`, and returns their number. The changes are synced
  /// when this method returns.
  ///
  /// If the file of such an item still exists, it is sent again, because it is new to the journal. Therefore, items
  /// whose files must still be deleted or moved are kept. Items that may share their upload ID with another item are
  /// also kept. The caller holds the session's lock, and no run writes to the journal.
  package func forget(_ states: Set<ItemState>, before limit: Instant) throws(JournalError) -> Int {
    precondition(states.isSubset(of: [.done, .failed, .cancelled]), "open and ambiguous items are kept")
    precondition(isWritable, "a journal opened for reading is not written to")
    var forgotten = 0
    var last: Int64 = 0
    do {
      while true {
        let (count, end) = try access { db in
          try self.commit(db) { db in try Self.forget(states, after: last, before: limit, db) }
        }
        forgotten += count
        try sync()
        try checkpointIfDue()
        guard let end else { return forgotten }
        last = end
      }
    } catch {
      // The log is in an unknown state and must not be checkpointed into the file, as after a lost write in a run.
      abandon()
      throw error
    }
  }

  /// Deletes, from one batch of items, those that were closed before the limit.
  ///
  /// - Returns: the last processed ID; `nil` if there are no more items.
  private static func forget(
    _ states: Set<ItemState>, after first: Int64, before limit: Instant, _ db: Database
  ) throws -> (count: Int, end: Int64?) {
    let end = try Int64.fetchOne(
      db, sql: "SELECT id FROM item WHERE id > ? ORDER BY id LIMIT 1 OFFSET \(forgottenAtOnce)",
      arguments: [first])
    let numbers = states.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
    try db.execute(
      sql: """
        DELETE FROM item WHERE id > ? AND id <= ? AND state IN (\(numbers)) AND closed_at < ?
        AND after IS NOT \(AfterState.owed.rawValue) AND captures IS NULL AND secret_captures IS NULL
        """,
      arguments: [first, end ?? .max, limit.nanoseconds])
    return (db.changesCount, end)
  }
}
