import FerryPlan
import GRDB
import GRDBSQLite

extension SessionJournal {
  /// If a listing is this many times shorter than the journal, its files are looked up one by one.
  private static let lookUpFactor: Int64 = 8

  /// Calls `take`, in the order of the paths, with every item of the node that must be reconciled with a listing: the
  /// items of listed files, and items that are open, are ambiguous, or have a pending `after` action. Other delivered
  /// or failed items may be included. Throws an error for an item that no version of ferry writes.
  ///
  /// The items of delivered files remain in the journal after the files were moved away. A listing of a hundred new
  /// files must not require reading a million rows.
  package func forEachItem(
    node: Int64, meeting files: FileColumns, _ take: (borrowing ItemRow) throws -> Void
  ) throws {
    func body(_ row: borrowing ItemRow) throws {
      try row.checkForm()
      try take(row)
    }
    // Rows of other nodes are counted too. At worst, every row is read unnecessarily.
    guard try Int64(files.count) * Self.lookUpFactor < nextRow - 1 else {
      return try forEachItem(node: node, body)
    }
    try queue.writeWithoutTransaction { db in
      // A single transaction, because a run may be writing.
      try db.inTransaction(.deferred) {
        try lookUp(files, node: node, db, body)
        return .commit
      }
    }
  }

  private func lookUp(
    _ files: FileColumns, node: Int64, _ db: Database, _ body: (borrowing ItemRow) throws -> Void
  ) throws {
    // Rows are read in storage order: with the index, each of a million rows would be looked up
    // individually.
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
        // The bytes remain valid while the statement is stepped.
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
