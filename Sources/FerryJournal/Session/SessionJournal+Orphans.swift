import FerryPlan
import Foundation
import GRDB

/// Upload IDs that the server issued and that will not be used.
extension SessionJournal {
  /// The next free orphan ID. The holder of the session's lock reads it once, and then assigns consecutive
  /// IDs itself.
  package var nextOrphan: Int64 {
    get throws(JournalError) {
      try access { db in
        let last: Int64? = try db.first(
          "SELECT max(id) AS id FROM orphan", of: "orphan", in: self.path
        ) { try $0.optional("id") }.flatMap(\.self)
        guard let last else { return 1 }
        guard last < ItemRow.mostNumber else {
          throw JournalError(.damaged, file: self.path, cause: "an orphan has the number \(last)")
        }
        return max(0, last) + 1
      }
    }
  }

  /// All orphans, oldest first.
  package var orphans: [OrphanRow] {
    get throws(JournalError) {
      var orphans: [OrphanRow] = []
      try forEachOrphan(where: "1") { orphans.append($0) }
      return orphans
    }
  }

  /// The orphans of an upload that may be released, at most `limit`: first the orphans whose release was never
  /// attempted, oldest first, then the others in the order of their last attempt. Therefore, an orphan whose release
  /// fails repeatedly does not delay the others.
  ///
  /// - Parameters:
  ///   - size: the maximum size of their captures together, in bytes. At least one orphan is returned.
  ///   - isWanted: whether an orphan is returned. Others do not count for the limits.
  package func releasableOrphans(
    node: Int64, limit: Int, size: Int, where isWanted: (OrphanRow) -> Bool = { _ in true }
  ) throws(JournalError) -> [OrphanRow] {
    var found: [OrphanRow] = []
    var total = 0
    try forEachOrphan(
      where: "node = ? AND in_doubt = 0", [node], order: "tried_at NULLS FIRST, id"
    ) { orphan in
      guard found.count < limit, isWanted(orphan) else { return }
      total += orphan.captures.size
      if found.isEmpty || total <= size { found.append(orphan) }
    }
    return found
  }

  /// Calls `take` with the orphans that may be released, for all uploads, oldest first, at most `limit`.
  package func forEachReleasableOrphan(limit: Int, _ take: (OrphanRow) -> Void) throws(JournalError) {
    try forEachOrphan(where: "in_doubt = 0", limit: limit, take)
  }

  /// Whether a file was delivered, or has or may have an upload ID.
  package func hasUploadID(node: Int64, path: [UInt8]) throws(JournalError) -> Bool {
    let states = [ItemState.allocated, .transferred, .done, .ambiguous].map { "\($0.rawValue)" }
    return try access { db in
      try Bool.fetchOne(
        db,
        sql: """
          SELECT EXISTS (SELECT 1 FROM item WHERE node = ? AND path = ? AND state IN (\(states.joined(separator: ", "))))
          """,
        arguments: [node, Data(path)]) ?? false
    }
  }

  /// The number of orphans of each upload, by `NodeRow.id`.
  package func orphanCounts() throws(JournalError) -> [Int64: Int] {
    try access { db in
      let counts = try db.rows(
        "SELECT node, count(*) AS count FROM orphan GROUP BY node", of: "orphan", in: self.path
      ) { (try $0.value("node", as: Int64.self), try $0.value("count", as: Int.self)) }
      return Dictionary(counts, uniquingKeysWith: +)
    }
  }

  /// Calls `take` with the orphaned upload IDs that meet an SQL condition.
  ///
  /// - Parameter limit: -1 for no limit, as in SQLite.
  private func forEachOrphan(
    where condition: String, _ arguments: StatementArguments = [], order: String = "id", limit: Int = -1,
    _ take: (OrphanRow) -> Void
  ) throws(JournalError) {
    let sql = "SELECT \(OrphanRow.columns) FROM orphan WHERE \(condition) ORDER BY \(order) LIMIT \(limit)"
    try access { db in
      _ = try db.rows(sql, arguments, of: "orphan", in: self.path) { take(try OrphanRow($0)) }
    }
  }

  /// Calls `take` with the `NodeRow.id`, captures and servers of each upload ID that must not be released: those of
  /// ambiguous items, of delivered items that shared their ID with another item, of open items of nodes other than
  /// `selected`, and of orphans in doubt.
  package func forEachUsedUploadID(
    excluding selected: [Int64],
    _ take: (_ node: Int64, _ captures: [CapturedValue], _ servers: String?) throws -> Void
  ) throws(JournalError) {
    let others = selected.map { "\($0)" }.joined(separator: ", ")
    let sources = [
      (
        "item",
        """
        (captures IS NOT NULL OR secret_captures IS NOT NULL) AND (state IN (\(ItemState.ambiguous.rawValue), \(ItemState.done.rawValue))
        OR state < \(ItemState.done.rawValue) AND node NOT IN (\(others)))
        """
      ),
      ("orphan", "in_doubt = 1"),
    ]
    try access { db in
      for (table, condition) in sources {
        let sql = "SELECT node, captures, secret_captures, servers FROM \(table) WHERE \(condition)"
        _ = try db.rows(sql, of: table, in: self.path) { row in
          try take(try row.value("node", as: Int64.self), try row.captures, try row.optional("servers"))
        }
      }
    }
  }

  /// Records that the IDs of orphans may be in use. The change is synced when this method returns. The
  /// caller holds the session's lock, and no run writes to the journal.
  package func doubtOrphans(_ ids: [Int64]) throws(JournalError) {
    guard !ids.isEmpty else { return }
    try transaction { db in
      let doubt = try db.cachedStatement(sql: "UPDATE orphan SET in_doubt = 1 WHERE id = ?")
      for id in ids { try doubt.execute(arguments: [id]) }
    }
  }

  /// Before a run, turns the upload IDs of open items whose files start over into orphans. The change is
  /// synced when this method returns. The caller holds the session's lock, and no run writes to the journal.
  package func dropUploadIDs(
    _ items: [(row: Int64, reason: OrphanReason)], at now: Instant
  ) throws(JournalError) {
    guard !items.isEmpty else { return }
    try transaction { db in
      let clear = try db.cachedStatement(
        sql: """
          UPDATE item SET state = \(ItemState.queued.rawValue), intent = NULL, captures = NULL,
          secret_captures = NULL, expires = NULL, sha256 = NULL, key_header = NULL, key_value = NULL,
          servers = NULL WHERE id = ?
          """)
      for (row, reason) in items {
        try OrphanRow.insert(reason, where: "id = ?", [row], at: now, db)
        try clear.execute(arguments: [row])
      }
    }
  }

  /// Records, before a run, the step from which data of the node may count as delivered.
  /// While items hold IDs from an earlier version of the manifest, the earlier step counts.
  package func setCountingPoint(_ point: CountingPoint, node: Int64) throws(JournalError) {
    let open = "EXISTS (SELECT 1 FROM item WHERE node = ?1 AND state IN (1, 2))"
    try access { db in
      try db.execute(
        sql: """
          UPDATE node SET counts_from = CASE WHEN ?2 > coalesce(counts_from, 1) AND \(open) THEN 2 ELSE ?2 END
          WHERE id = ?1 AND counts_from IS NOT ?2
          """,
        arguments: [node, Int64(point.rawValue)])
    }
  }

  /// Deletes orphans from the journal without releasing them. The change is synced when this method returns. The caller
  /// holds the session's lock, and no run writes to the journal.
  ///
  /// - Parameter ids: `nil` means all.
  /// - Returns: the number of removed orphans.
  package func forgetOrphans(_ ids: [Int64]?) throws(JournalError) -> Int {
    try transaction { db in
      guard let ids else {
        try db.execute(sql: "DELETE FROM orphan")
        return db.changesCount
      }
      var forgotten = 0
      let forget = try db.cachedStatement(sql: "DELETE FROM orphan WHERE id = ?")
      for id in ids {
        try forget.execute(arguments: [id])
        forgotten += db.changesCount
      }
      return forgotten
    }
  }
}
