import FerryPlan
import GRDB

extension SessionJournal {
  /// Calls `body` with each item of the node whose delivered file is still owed its `after`, ordered by path.
  package func forEachOwed(node: Int64, _ body: (borrowing ItemRow) throws -> Void) throws {
    try forEachItem(
      sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? AND after = 1 ORDER BY path", node: node, body)
  }

  /// How many delivered files are still owed their `after`, by node. A node without such files is absent.
  package func owedCounts() throws(JournalError) -> [Int64: Int] {
    try access { db in
      let counts = try db.rows(
        "SELECT node, count(*) AS count FROM item WHERE after = 1 GROUP BY node", of: "item", in: self.path
      ) { (try $0.value("node", as: Int64.self), try $0.value("count", as: Int.self)) }
      return Dictionary(counts, uniquingKeysWith: +)
    }
  }

  /// Whether a delivered file of the node is owed its `after` and no run has tried and failed to perform it.
  package func owesUntriedAfter(node: Int64) throws(JournalError) -> Bool {
    try access { db in
      try Bool.fetchOne(
        db,
        sql: "SELECT EXISTS (SELECT 1 FROM item WHERE node = ? AND after = 1 AND after_tried IS NULL)",
        arguments: [node]) ?? false
    }
  }

  /// Records, before a run, what happened to delivered files. Actions that are still owed have been tried and
  /// failed. Synced when this returns.
  package func settle(_ files: [(row: Int64, state: AfterState)]) throws(JournalError) {
    guard !files.isEmpty else { return }
    try commitAndSync(
      files.map { $0.state == .owed ? .afterTried(row: $0.row) : .after(row: $0.row, $0.state) })
  }
}
