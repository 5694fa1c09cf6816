import FerryPlan
import GRDB

extension SessionJournal {
  /// So many items of a node are in this state, of this round.
  package struct RoundCount: Hashable, Sendable {
    /// `NodeRow.id`.
    package var node: Int64
    package var round: Int64
    package var state: ItemState
    package var count: Int
  }

  package func countsByRound() throws(JournalError) -> [RoundCount] {
    try access { db in
      try Row.fetchAll(
        db, sql: "SELECT node, round, state, count(*) AS count FROM item GROUP BY node, round, state"
      ).map { row in
        let raw: Int64 = row["state"]
        guard let state = UInt8(exactly: raw).flatMap(ItemState.init(rawValue:)) else {
          throw JournalError(.damaged, file: self.path, cause: "items have the state \(raw)")
        }
        return RoundCount(node: row["node"], round: row["round"], state: state, count: row["count"])
      }
    }
  }

  /// The last round of a manifest that a node or an item names; 0 where there is none.
  package func lastRound(of manifest: String) throws(JournalError) -> Int64 {
    try access { db in
      // Over the whole table (hence the plus): through the index each item would be looked up by itself.
      try Int64.fetchOne(
        db,
        sql: """
          SELECT max(
            (SELECT coalesce(max(round), 0) FROM node WHERE manifest = ?1),
            (SELECT coalesce(max(round), 0) FROM item WHERE +node IN (SELECT id FROM node WHERE manifest = ?1)))
          """,
        arguments: [manifest]) ?? 0
    }
  }

  /// An upload with items that have not ended.
  package struct OpenUpload: Hashable, Sendable {
    package var name: String
    package var origin: String
    package var items: Int
  }

  /// Open uploads of a manifest, but for some nodes. Items of these others are not looked at.
  package func openUploads(
    of manifest: String, except known: Set<Int64>
  ) throws(JournalError) -> [OpenUpload] {
    try access { db in
      let nodes = try Row.fetchAll(
        db, sql: "SELECT id, name, origin FROM node WHERE manifest = ? AND kind = ? ORDER BY id",
        arguments: [manifest, Int64(NodeRow.Kind.upload.rawValue)])
      return try nodes.compactMap { row in
        let id: Int64 = row["id"]
        guard !known.contains(id) else { return nil }
        let open = try Int.fetchOne(
          db, sql: "SELECT count(*) FROM item WHERE node = ? AND state < ?",
          arguments: [id, Int64(ItemState.done.rawValue)])
        guard let open, open > 0 else { return nil }
        return OpenUpload(name: row["name"], origin: row["origin"], items: open)
      }
    }
  }

  package func hasItems(node: Int64) throws(JournalError) -> Bool {
    try access { db in
      let sql = "SELECT EXISTS (SELECT 1 FROM item WHERE node = ?)"
      return try Bool.fetchOne(db, sql: sql, arguments: [node]) ?? false
    }
  }
}
