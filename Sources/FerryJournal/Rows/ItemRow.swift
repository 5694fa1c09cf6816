import FerryPlan
import Foundation
import GRDB
import GRDBSQLite

/// An item in the journal. Each column is read when it is accessed.
///
/// The value refers to SQLite's own row and is valid only during the call to which it is passed, so reading a million
/// rows does not require memory for all of them.
package struct ItemRow: ~Copyable {
  /// The limit for row numbers. No journal reaches it, and numbers that continue from it do not overflow.
  static let mostNumber: Int64 = 1 << 62

  /// The statement, positioned at its current row.
  let statement: OpaquePointer
  private let file: String

  static let columns = """
    id, path, round, state, intent, size, modified, handed_over, expires, closed_at, sha256, captures, \
    secret_captures, failure_code, failure_status, failure_message, after, inode, root_device, \
    root_inode, after_tried, key_header, key_value, servers
    """

  /// The type of each column, in the order of `columns`.
  private static let stored: [(kind: Int32, isOptional: Bool)] = [
    (SQLITE_INTEGER, false), (SQLITE_BLOB, false), (SQLITE_INTEGER, false), (SQLITE_INTEGER, false),
    (SQLITE_INTEGER, true), (SQLITE_INTEGER, false), (SQLITE_INTEGER, false), (SQLITE_INTEGER, false),
    (SQLITE_INTEGER, true), (SQLITE_INTEGER, true), (SQLITE_BLOB, true), (SQLITE_TEXT, true),
    (SQLITE_TEXT, true),
    (SQLITE_TEXT, true), (SQLITE_INTEGER, true), (SQLITE_TEXT, true), (SQLITE_INTEGER, true),
    (SQLITE_INTEGER, true), (SQLITE_INTEGER, true), (SQLITE_INTEGER, true), (SQLITE_INTEGER, true),
    (SQLITE_TEXT, true), (SQLITE_TEXT, true), (SQLITE_TEXT, true),
  ]

  /// - Throws: an error if the row's values are not of the types that ferry writes. A damaged or forged
  ///   journal may contain NULL, text or any number in any column.
  init(statement: OpaquePointer, file: String) throws(JournalError) {
    self.statement = statement
    self.file = file
    for (column, stored) in Self.stored.enumerated() {
      let found = sqlite3_column_type(statement, Int32(column))
      guard found == stored.kind || (stored.isOptional && found == SQLITE_NULL) else {
        throw damaged(found == SQLITE_NULL ? "NULL" : "a value of a different type", in: Int32(column))
      }
    }
    guard (1..<Self.mostNumber).contains(id) else {
      throw damaged("a number that ferry never assigns", in: 0)
    }
    guard round >= 0 else { throw damaged("\(round)", in: 2) }
    guard size >= 0 else { throw damaged("\(size)", in: 5) }
  }

  package var id: Int64 { sqlite3_column_int64(statement, 0) }

  /// The path's bytes, relative to the upload's root. They are valid only inside `body`.
  package func withPath<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(bytes(1))
  }

  package var path: [UInt8] { Array(bytes(1)) }
  package var round: Int64 { sqlite3_column_int64(statement, 2) }

  package var state: ItemState {
    get throws(JournalError) {
      let raw = sqlite3_column_int64(statement, 3)
      guard let state = UInt8(exactly: raw).flatMap(ItemState.init(rawValue:)) else {
        throw damaged("\(raw)", in: 3)
      }
      return state
    }
  }

  /// The unrepeatable step that was about to be sent and whose response is not recorded.
  package var intent: ItemStep? {
    get throws(JournalError) {
      guard let raw = integer(4) else { return nil }
      guard let step = UInt8(exactly: raw).flatMap(ItemStep.init(rawValue:)) else {
        throw damaged("\(raw)", in: 4)
      }
      return step
    }
  }

  /// The size in bytes, as listed when the item was queued.
  package var size: Int64 { sqlite3_column_int64(statement, 5) }
  /// The modification time in nanoseconds since 1970, as listed when the item was queued.
  package var modified: Int64 { sqlite3_column_int64(statement, 6) }
  package var handedOver: Instant { Instant(nanoseconds: sqlite3_column_int64(statement, 7)) }
  /// The time at which the item's upload ID expires; `nil` if the ID does not expire, or if there is no
  /// upload ID.
  package var expires: Instant? { integer(8).map(Instant.init(nanoseconds:)) }
  package var closedAt: Instant? { integer(9).map(Instant.init(nanoseconds:)) }
  package var sha256: [UInt8]? { isNull(10) ? nil : Array(bytes(10)) }

  /// The captures: non-secret ones in the order of capture, then secret ones.
  package var captures: [CapturedValue] {
    get throws(JournalError) {
      try captures(11, secret: false) + captures(12, secret: true)
    }
  }

  private func captures(_ column: Int32, secret: Bool) throws(JournalError) -> [CapturedValue] {
    guard !isNull(column) else { return [] }
    guard let text = String(validating: bytes(column), as: UTF8.self),
      let values = CaptureText.decode(text, secret: secret)
    else { throw damaged("not a JSON object of strings", in: column) }
    return values
  }

  package var failure: RecordedFailure? {
    guard let code = text(13) else { return nil }
    return RecordedFailure(
      code: .init(rawValue: code), status: integer(14).map { Int($0) }, message: text(15) ?? "")
  }

  /// The pending action for the file after its delivery, or the action's result; `nil` if none was requested.
  package var after: AfterState? {
    get throws(JournalError) {
      guard let raw = integer(16) else { return nil }
      guard let state = UInt8(exactly: raw).flatMap(AfterState.init(rawValue:)) else {
        throw damaged("\(raw)", in: 16)
      }
      return state
    }
  }

  /// The inode of the file that was sent, if known.
  package var inode: UInt64? { integer(17).map { UInt64(bitPattern: $0) } }

  /// The identity of the upload's root at the time the file was sent, if known.
  package var root: FolderIdentity? {
    guard let device = integer(18), let inode = integer(19) else { return nil }
    return FolderIdentity(device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode))
  }

  /// Whether a run has tried and failed to perform the pending action for the file.
  package var hasTriedAfter: Bool { !isNull(20) }

  /// The idempotency key of the commit whose intent was recorded last; `nil` if the commit had none.
  package var commitKey: CommitKey? {
    get throws(JournalError) {
      guard let header = text(21), let value = text(22) else { return nil }
      // The header and its value are sent as a header field of a request.
      for (text, column) in [(header, Int32(21)), (value, 22)] {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") })
        else {
          throw damaged("not part of a header field", in: column)
        }
      }
      return CommitKey(header: header, value: value)
    }
  }

  /// The servers to which the item's upload ID or transferred file belongs; `nil` if the manifest or the item's
  /// captures determine them, or in rows of older schemas.
  package var servers: String? { text(23) }

  private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  private func integer(_ column: Int32) -> Int64? {
    isNull(column) ? nil : sqlite3_column_int64(statement, column)
  }

  private func text(_ column: Int32) -> String? {
    isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
  }

  private func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // SQLite requires that the pointer is read before the length.
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }

  func damaged(_ what: String) -> JournalError {
    JournalError(.damaged, file: file, cause: "in the table item, the row whose id is \(id) has \(what)")
  }

  private func damaged(_ what: String, in column: Int32) -> JournalError {
    let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
    return JournalError(
      .damaged, file: file, cause: "in the table item, the row whose id is \(id): \(name) is \(what)")
  }
}
