import FerryPlan
import GRDB

extension SessionJournal {
  /// Calls `body` with each item of the node whose delivered file is still owed its `after`, by path.
  package func forEachOwed(node: Int64, _ body: (borrowing ItemRow) throws -> Void) throws {
    try forEachItem(
      sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? AND after = 1 ORDER BY path", node: node, body)
  }

  /// How many delivered files are still owed their `after`, by node; a node without one is absent.
  package func owedCounts() throws(JournalError) -> [Int64: Int] {
    try access { db in
      Dictionary(
        uniqueKeysWithValues: try Row.fetchAll(
          db, sql: "SELECT node, count(*) AS count FROM item WHERE after = 1 GROUP BY node"
        ).map { ($0["node"] as Int64, $0["count"] as Int) })
    }
  }

  /// Before a run: what became of delivered files. On the disk when this returns.
  package func settle(_ files: [(row: Int64, state: AfterState)]) throws(JournalError) {
    guard !files.isEmpty else { return }
    try commitAndSync(files.map { .after(row: $0.row, $0.state) })
  }
}
