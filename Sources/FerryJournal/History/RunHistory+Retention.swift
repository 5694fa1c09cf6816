import FerryPlan
import GRDB

extension RunHistory {
  /// Runs that ended before `limit`, oldest first, excluding the last run of each manifest and runs in
  /// progress.
  package func runs(endedBefore limit: Instant, atMost count: Int) throws(JournalError) -> [String] {
    try read { db in
      let arguments: StatementArguments = [limit.nanoseconds]
      let isOld = "state <> \(RunRow.State.running.rawValue) AND ended_at < ?"
      // Usually no run is old enough; in that case, the rows of rounds are not read.
      guard
        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM run WHERE \(isOld))", arguments: arguments)
          == true
      else { return [] }
      return try String.fetchAll(
        db,
        sql: """
          SELECT id FROM run WHERE \(isOld)
          AND sequence NOT IN (SELECT max(run) FROM run_round GROUP BY manifest)
          ORDER BY sequence LIMIT \(max(0, count))
          """,
        arguments: arguments)
    }
  }

  /// Removes runs, with their links to rounds and the rates of their uploads. The rounds are kept.
  package func forget(runs ids: [String]) throws(JournalError) {
    guard !ids.isEmpty else { return }
    try write { db in
      let statement = try db.cachedStatement(sql: "DELETE FROM run WHERE id = ?")
      for id in ids { try statement.execute(arguments: [id]) }
    }
  }
}
