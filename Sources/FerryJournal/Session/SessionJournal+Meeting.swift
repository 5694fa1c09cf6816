import FerryPlan
import GRDB
import GRDBSQLite

extension SessionJournal {
  /// A listing this many times shorter than the journal is looked up file by file.
  private static let lookUpFactor: Int64 = 8

  /// Calls `body`, by path, with every item of the node that a listing has to meet: those of listed files, and those
  /// that are open, ambiguous, or owed their `after`; throws at one that no ferry writes. Whatever else is delivered or has failed may come or not.
  ///
  /// What was delivered and moved away stays in the journal: a hundred new files do not wait for a million rows.
  package func forEachItem(
    node: Int64, meeting files: FileColumns, _ take: (borrowing ItemRow) throws -> Void
  ) throws {
    func body(_ row: borrowing ItemRow) throws {
      try row.checkForm()
      try take(row)
    }
    // Rows of other nodes are counted with it: at worst every row is read where none had to be.
    guard try Int64(files.count) * Self.lookUpFactor < nextRow - 1 else {
      return try forEachItem(node: node, body)
    }
    try queue.writeWithoutTransaction { db in
      // Of one moment: a run may be writing.
      try db.inTransaction(.deferred) {
        try lookUp(files, node: node, db, body)
        return .commit
      }
    }
  }

  private func lookUp(
    _ files: FileColumns, node: Int64, _ db: Database, _ body: (borrowing ItemRow) throws -> Void
  ) throws {
    // In the order of the rows where they lie: by the index each of a million would be sought.
    let unsettled = try prepare(
      """
      SELECT \(ItemRow.columns) FROM item NOT INDEXED WHERE node = ? AND (state < \(ItemState.done.rawValue)
      OR state = \(ItemState.ambiguous.rawValue) OR after = \(AfterState.owed.rawValue)) ORDER BY path
      """, db)
    let listed = try prepare("SELECT \(ItemRow.columns) FROM item WHERE node = ? AND path = ?", db)
    defer { sqlite3_clear_bindings(listed) }
    sqlite3_bind_int64(unsettled, 1, node)
    sqlite3_bind_int64(listed, 1, node)
    func find(_ index: Int) throws {
      try files.path(index).withUnsafeBytes { path in
        // The bytes outlive the steps.
        sqlite3_bind_blob(listed, 2, path.baseAddress, Int32(path.count), nil)
        try forEachRow(listed, db, body)
      }
    }
    var next = 0
    try forEachRow(unsettled, db) { item in
      try item.withPath { path in
        while next < files.count, files.order(next, to: path) == .before {
          try find(next)
          next += 1
        }
        if next < files.count, files.order(next, to: path) == .same { next += 1 }
      }
      try body(item)
    }
    for index in next..<files.count { try find(index) }
  }

  private func prepare(_ sql: String, _ db: Database) throws(JournalError) -> OpaquePointer {
    do {
      return try db.cachedStatement(sql: sql).sqliteStatement
    } catch {
      throw JournalError(error, file: path)
    }
  }
}
