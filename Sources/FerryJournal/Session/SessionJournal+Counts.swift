import FerryPlan
import GRDB
import GRDBSQLite

extension SessionJournal {
  /// The number of a node's items in one state and one round.
  package struct RoundCount: Hashable, Sendable {
    /// The node's `NodeRow.id`.
    package var node: Int64
    package var round: Int64
    package var state: ItemState
    package var count: Int
  }

  /// The counts, ordered by node, round and state.
  package func countsByRound() throws(JournalError) -> [RoundCount] {
    let counts = try access { db in
      var counts: [ItemGroup: Int] = [:]
      // The query reads each row once, in storage order. A GROUP BY would first sort all rows.
      let statement = try db.cachedStatement(sql: "SELECT node, round, state FROM item").sqliteStatement
      defer { sqlite3_reset(statement) }
      var current = ItemGroup(node: 0, round: 0, state: 0)
      var length = 0
      while true {
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
          let group = ItemGroup(statement)
          if group != current {
            counts[current, default: 0] += length
            (current, length) = (group, 0)
          }
          length += 1
        case SQLITE_DONE:
          counts[current, default: 0] += length
          return counts
        case let code: throw db.failure(code)
        }
      }
    }
    return try counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map {
      group, count throws(JournalError) in
      guard let state = UInt8(exactly: group.state).flatMap(ItemState.init(rawValue:)) else {
        throw JournalError(.damaged, file: path, cause: "items have the state \(group.state)")
      }
      return RoundCount(node: group.node, round: group.round, state: state, count: count)
    }
  }

  /// The number of a node's items that were canceled in one round for the same reason.
  package struct CancelledItems: Hashable, Sendable {
    /// The node's `NodeRow.id`.
    package var node: Int64
    package var round: Int64
    package var failure: RecordedFailure
    package var count: Int
  }

  /// The canceled items by node, round and reason. Within each node, the largest counts come first.
  package func cancelledItems() throws(JournalError) -> [CancelledItems] {
    try access { db in
      try db.rows(
        """
        SELECT node, round, failure_code, failure_message, count(*) AS count FROM item WHERE state = ?
        GROUP BY node, round, failure_code, failure_message ORDER BY node, round, count DESC, failure_message
        """, [Int64(ItemState.cancelled.rawValue)], of: "item", in: self.path
      ) { row in
        let code = try row.optional("failure_code", as: String.self).map(FailureCode.init(rawValue:))
        return CancelledItems(
          node: try row.value("node"), round: try row.value("round"),
          failure: RecordedFailure(
            code: code ?? .cancelled,
            message: try row.optional("failure_message") ?? RecordedFailure.cancelled.message),
          count: Int(clamping: try row.value("count", as: Int64.self)))
      }
    }
  }

  /// The last round of a manifest in its nodes and items, or 0.
  package func lastRound(of manifest: String) throws(JournalError) -> Int64 {
    try access { db in
      // The plus makes SQLite scan the whole table. With the index, it would look up each item individually.
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

  /// An upload or a download batch with items that have not ended.
  package struct OpenUpload: Hashable, Sendable {
    package var name: String
    package var kind: NodeRow.Kind
    package var origin: String
    package var items: Int
  }

  /// The open uploads of a manifest, except for certain nodes. The items of those nodes are not read.
  package func openUploads(
    of manifest: String, except known: Set<Int64>
  ) throws(JournalError) -> [OpenUpload] {
    try access { db in
      let nodes = try db.rows(
        "SELECT id, name, kind, origin FROM node WHERE manifest = ? AND \(NodeRow.Kind.ofItems) ORDER BY id",
        [manifest], of: "node", in: self.path
      ) { row in
        (
          id: try row.value("id", as: Int64.self), name: try row.value("name", as: String.self),
          kind: try row.word("kind") as NodeRow.Kind, origin: try row.value("origin", as: String.self)
        )
      }
      return try nodes.compactMap { node in
        let id = node.id
        guard !known.contains(id) else { return nil }
        let open = try Int.fetchOne(
          db, sql: "SELECT count(*) FROM item WHERE node = ? AND state < ?",
          arguments: [id, Int64(ItemState.done.rawValue)])
        guard let open, open > 0 else { return nil }
        return OpenUpload(name: node.name, kind: node.kind, origin: node.origin, items: open)
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

/// The columns by which `countsByRound` groups items.
private struct ItemGroup: Hashable, Comparable {
  var node: Int64
  var round: Int64
  var state: Int64

  init(node: Int64, round: Int64, state: Int64) {
    self.node = node
    self.round = round
    self.state = state
  }

  /// Reads the current row of a statement.
  init(_ statement: OpaquePointer) {
    node = sqlite3_column_int64(statement, 0)
    round = sqlite3_column_int64(statement, 1)
    state = sqlite3_column_int64(statement, 2)
  }

  static func < (a: Self, b: Self) -> Bool {
    (a.node, a.round, a.state) < (b.node, b.round, b.state)
  }
}
