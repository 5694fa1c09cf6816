import FerryPlan
import Foundation
import GRDB

/// An upload ID that the server issued and that will not be used.
package struct OrphanRow: Hashable, Sendable {
  package var id: Int64
  /// The `NodeRow.id` of the ID's upload.
  package var node: Int64
  /// The path of the file for which the ID was issued, relative to the upload's root.
  package var path: [UInt8]
  /// The size in bytes, as listed when the file was queued.
  package var size: Int64
  /// The modification time in nanoseconds since 1970, as listed when the file was queued.
  package var modified: Int64
  package var sha256: [UInt8]?
  /// The captures, as for an item: non-secret ones in the order of capture, then secret ones.
  package var captures: [CapturedValue]
  /// The ID was issued after this time.
  package var handedOver: Instant
  /// The time at which the ID expires; `nil` if the ID does not expire.
  package var expires: Instant?
  package var orphaning: Orphaning
  package var droppedAt: Instant
  /// The time of the last failed release attempt. `failure` contains the reason.
  package var triedAt: Instant?
  package var failure: RecordedFailure?
  /// The servers to which the upload ID belongs, as in `ItemRow`.
  package var servers: String?

  static let columns = """
    id, node, path, size, modified, sha256, captures, secret_captures, handed_over, expires, reason, in_doubt, \
    dropped_at, tried_at, failure_code, failure_status, failure_message, servers
    """

  init(_ row: JournalRow) throws {
    id = try row.value("id")
    node = try row.value("node")
    path = try row.value("path")
    size = try row.value("size")
    guard size >= 0 else { throw row.damaged("size", "\(size)") }
    modified = try row.value("modified")
    sha256 = try row.optional("sha256")
    captures = try row.captures
    handedOver = Instant(nanoseconds: try row.value("handed_over"))
    expires = try row.optional("expires", as: Int64.self).map(Instant.init(nanoseconds:))
    orphaning = Orphaning(try row.word("reason"), isInDoubt: try row.value("in_doubt"))
    droppedAt = Instant(nanoseconds: try row.value("dropped_at"))
    triedAt = try row.optional("tried_at", as: Int64.self).map(Instant.init(nanoseconds:))
    failure = try row.failure
    servers = try row.optional("servers")
  }
}

// MARK: Creating orphans

extension OrphanRow {
  /// An SQL condition that is true for an item whose captures contain an upload ID: the captures of `allocate` come
  /// first. A delivered item has captures only if its upload ID must be kept.
  private static let holdsUploadID = #"""
    (captures LIKE '{"allocate.%' OR secret_captures LIKE '{"allocate.%'
      OR state = 3 AND (captures IS NOT NULL OR secret_captures IS NOT NULL))
    """#

  /// An SQL condition that is true for an item if, according to its row, its delivering step (such as its
  /// commit) may have been executed.
  private static let mayCount = """
    (intent IS NOT NULL
      OR state >= coalesce((SELECT nullif(counts_from, 2) FROM node WHERE node.id = item.node), 1))
    """

  /// SQL that records the upload IDs of items as orphans before the items lose them.
  ///
  /// - Parameters:
  ///   - id: an SQL expression; NULL for the next free ID.
  ///   - inDoubt: an SQL expression; NULL if only the item's row determines the value.
  static func insert(id: String, reason: String, inDoubt: String, at: String, where condition: String)
    -> String
  {
    """
    INSERT INTO orphan (id, node, path, size, modified, sha256, captures, secret_captures, handed_over, expires,
    servers, reason, in_doubt, dropped_at)
    SELECT \(id), node, path, size, modified, sha256, captures, secret_captures, handed_over, expires,
    servers, \(reason), coalesce(\(inDoubt), \(mayCount)), \(at)
    FROM item WHERE \(condition) AND \(holdsUploadID)
    """
  }

  /// Records the upload IDs of all items for which the condition is true as orphans.
  static func insert(
    _ reason: OrphanReason, isInDoubt: Bool? = nil, where condition: String,
    _ arguments: StatementArguments = [], at now: Instant, _ db: Database
  ) throws {
    // The statement is cached, because the function is usually called for one item at a time.
    let statement = try db.cachedStatement(
      sql: insert(
        id: "NULL", reason: "\(reason.rawValue)", inDoubt: isInDoubt.map { $0 ? "1" : "0" } ?? "NULL",
        at: "\(now.nanoseconds)", where: condition))
    try statement.execute(arguments: arguments)
  }
}
