import FerryPlan
import Foundation
import GRDB

extension SessionJournal {
  /// Calls `body` with each item of the node whose delivered file still has a pending `after` action,
  /// ordered by path.
  package func forEachOwed(node: Int64, _ body: (borrowing ItemRow) throws -> Void) throws {
    try forEachItem(
      sql: "SELECT \(ItemRow.columns) FROM item WHERE node = ? AND after = 1 ORDER BY path", node: node, body)
  }

  /// The number of delivered files with a pending `after` action, by node. Nodes without such files are
  /// omitted.
  package func owedCounts() throws(JournalError) -> [Int64: Int] {
    try access { db in
      let counts = try db.rows(
        "SELECT node, count(*) AS count FROM item WHERE after = 1 GROUP BY node", of: "item", in: self.path
      ) { (try $0.value("node", as: Int64.self), try $0.value("count", as: Int.self)) }
      return Dictionary(counts, uniquingKeysWith: +)
    }
  }

  /// Whether the node has a delivered file with a pending `after` action that no run has tried yet.
  package func owesUntriedAfter(node: Int64) throws(JournalError) -> Bool {
    try access { db in
      try Bool.fetchOne(
        db,
        sql: "SELECT EXISTS (SELECT 1 FROM item WHERE node = ? AND after = 1 AND after_tried IS NULL)",
        arguments: [node]) ?? false
    }
  }

  /// Whether the node's file with this path was delivered, and its `after` action has been performed or is pending.
  package func hasTakenFile(node: Int64, path: [UInt8]) throws(JournalError) -> Bool {
    try access { db in
      // Called for each missing file of a list, which may name a million missing files.
      let statement = try db.cachedStatement(sql: Self.takenFile)
      return try Bool.fetchOne(statement, arguments: [node, Data(path)]) ?? false
    }
  }

  private static let takenFile = {
    let states = AfterState.allCases.filter(\.mayHaveTakenFile).map { "\($0.rawValue)" }
    return """
      SELECT EXISTS (SELECT 1 FROM item WHERE node = ? AND path = ? AND state = \(ItemState.done.rawValue)
      AND after IN (\(states.joined(separator: ", "))))
      """
  }()

  /// Records, before a run, the results of `after` actions. An action that is still pending has been tried and has
  /// failed. The changes are synced when this method returns.
  package func settle(_ files: [(row: Int64, state: AfterState)]) throws(JournalError) {
    guard !files.isEmpty else { return }
    try commitAndSync(
      files.map { $0.state == .owed ? .afterTried(row: $0.row) : .after(row: $0.row, $0.state) })
  }
}
