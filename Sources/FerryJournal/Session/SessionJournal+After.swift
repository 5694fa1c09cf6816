import FerryPlan
import GRDB

extension SessionJournal {
  /// Calls `body` with each item of the node whose delivered file is still owed its `after`, by path.
  package func forEachOwed(node: Int64, _ body: (borrowing ItemRow) throws -> Void) throws {
    try forEachItem(
      sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? AND after = 1 ORDER BY path", node: node, body)
  }

  /// Before a run: what became of delivered files. On the disk when this returns.
  package func settle(_ files: [(row: Int64, state: AfterState)]) throws(JournalError) {
    guard !files.isEmpty else { return }
    try commitAndSync(files.map { .after(row: $0.row, $0.state) })
  }
}
