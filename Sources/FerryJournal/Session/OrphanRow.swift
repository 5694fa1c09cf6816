import FerryPlan
import Foundation
import GRDB

/// An upload ID that was given out, and will not be used.
package struct OrphanRow: Hashable, Sendable {
  package var id: Int64
  /// `NodeRow.id` of its upload.
  package var node: Int64
  /// Of its file, relative to the upload's root.
  package var path: [UInt8]
  /// Bytes, as listed when the file was handed over.
  package var size: Int64
  /// Nanoseconds since 1970, likewise.
  package var modified: Int64
  package var sha256: [UInt8]?
  /// As an item's: the open ones in the order of capture, then the secret ones.
  package var captures: [CapturedValue]
  /// The ID was given out after this.
  package var handedOver: Instant
  /// Until when it could be used; `nil` means for ever.
  package var expires: Instant?
  package var orphaning: Orphaning
  package var droppedAt: Instant
  /// The last release that was tried in vain: when, and why.
  package var triedAt: Instant?
  package var failure: RecordedFailure?

  static let columns = """
    id, node, path, size, modified, sha256, captures, secret_captures, handed_over, expires, reason, in_doubt, \
    dropped_at, tried_at, failure_code, failure_status, failure_message
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
  }
}

// MARK: Becoming one

extension OrphanRow {
  /// True of an item whose captures are an upload ID's: those of `allocate` come first.
  private static let holdsUploadID = #"""
    (captures LIKE '{"allocate.%' OR secret_captures LIKE '{"allocate.%')
    """#

  /// True of an item whose commit, or whatever makes it count, may have been carried out, as far as its row tells.
  private static let mayCount = """
    (intent IS NOT NULL
      OR state >= coalesce((SELECT counts_from FROM node WHERE node.id = item.node), 1))
    """

  /// SQL that writes down as orphans the upload IDs of items that are about to lose them.
  ///
  /// - Parameters:
  ///   - id: SQL; NULL for the next free one.
  ///   - inDoubt: SQL; NULL where only the item's row tells.
  static func insert(id: String, reason: String, inDoubt: String, at: String, where condition: String)
    -> String
  {
    """
    INSERT INTO orphan (id, node, path, size, modified, sha256, captures, secret_captures, handed_over, expires,
    reason, in_doubt, dropped_at)
    SELECT \(id), node, path, size, modified, sha256, captures, secret_captures, handed_over, expires,
    \(reason), coalesce(\(inDoubt), \(mayCount)), \(at)
    FROM item WHERE \(condition) AND \(holdsUploadID)
    """
  }

  /// The same at once, for whatever items the condition is true of.
  static func insert(
    _ reason: OrphanReason, isInDoubt: Bool? = nil, where condition: String,
    _ arguments: StatementArguments = [], at now: Instant, _ db: Database
  ) throws {
    // Mostly it is called for one item after the other.
    let statement = try db.cachedStatement(
      sql: insert(
        id: "NULL", reason: "\(reason.rawValue)", inDoubt: isInDoubt.map { $0 ? "1" : "0" } ?? "NULL",
        at: "\(now.nanoseconds)", where: condition))
    try statement.execute(arguments: arguments)
  }
}
