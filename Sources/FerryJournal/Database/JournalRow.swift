import Foundation
import GRDB

/// A row of a query. Its values are checked when they are read.
///
/// A damaged or forged journal may contain NULL, text or any number in any column, and may lack columns.
/// GRDB's own subscripts terminate the process in that case. These methods instead report the file, the
/// table, the row and the column.
struct JournalRow {
  private let row: Row
  private let table: String
  private let file: String

  /// - Parameter row: the query's current row, not a copy, because text is checked in its stored form.
  fileprivate init(_ row: Row, table: String, file: String) {
    self.row = row
    self.table = table
    self.file = file
  }

  /// The value of a column that must not be NULL.
  func value<Value: JournalValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
    guard let value: Value = try optional(column) else {
      throw damaged(column, "NULL (expected: \(Value.kind))")
    }
    return value
  }

  /// The value of a column; `nil` for NULL.
  func optional<Value: JournalValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value? {
    guard row.hasColumn(column) else { throw damaged(column, "missing") }
    guard let stored: DatabaseValue = row[column], !stored.isNull else { return nil }
    guard let value = try read(stored.storage, column, as: Value.self) else {
      throw damaged(column, "not valid (expected: \(Value.kind))")
    }
    return value
  }

  private func read<Value: JournalValue>(
    _ stored: DatabaseValue.Storage, _ column: String, as type: Value.Type
  ) throws -> Value? {
    switch stored {
    case .null, .int64, .double: Value(stored, bytes: Data())
    // `stored` contains repaired text if the bytes are not valid UTF-8, so the raw bytes are also passed.
    case .string, .blob: try row.withUnsafeData(named: column) { Value(stored, bytes: $0 ?? Data()) }
    }
  }

  /// The enum case that is stored as a number.
  func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == UInt8 {
    let raw: Int64 = try value(column)
    guard let word = UInt8(exactly: raw).flatMap(Word.init(rawValue:)) else {
      throw damaged(column, "\(raw), which ferry never writes")
    }
    return word
  }

  /// The enum case that is stored as text.
  func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == String {
    let raw: String = try value(column)
    guard let word = Word(rawValue: raw) else {
      throw damaged(column, "\"\(raw)\", which ferry never writes")
    }
    return word
  }

  /// The error for a column with an invalid value.
  func damaged(_ column: String, _ what: String) -> JournalError {
    JournalError(.damaged, file: file, cause: "in the table \(table), \(key): \(column) is \(what)")
  }

  /// Identifies the row in messages by its first column, which is its key or the value by which the query
  /// groups.
  private var key: String {
    guard let name = row.columnNames.first else { return "a row" }
    let stored: DatabaseValue = row[0]
    let text =
      switch stored.storage {
      case .null: "NULL"
      case .int64(let number): "\(number)"
      case .double(let number): "\(number)"
      case .string(let text): "\"\(text.prefix(80))\""
      case .blob(let bytes): "\(bytes.count) bytes"
      }
    return "the row whose \(name) is \(text)"
  }
}

/// A type that a journal column can contain.
protocol JournalValue {
  /// The description of the type, for messages.
  static var kind: String { get }

  /// Returns `nil` if the stored value has a different type. Values are never converted.
  ///
  /// - Parameter bytes: the bytes of text and blobs as stored in the file.
  init?(_ stored: DatabaseValue.Storage, bytes: Data)
}

extension Int64: JournalValue {
  static var kind: String { "integer" }

  init?(_ stored: DatabaseValue.Storage, bytes: Data) {
    guard case .int64(let number) = stored else { return nil }
    self = number
  }
}

extension Int: JournalValue {
  static var kind: String { "integer" }

  init?(_ stored: DatabaseValue.Storage, bytes: Data) {
    guard case .int64(let number) = stored else { return nil }
    self.init(exactly: number)
  }
}

extension Bool: JournalValue {
  static var kind: String { "0 or 1" }

  init?(_ stored: DatabaseValue.Storage, bytes: Data) {
    guard case .int64(let number) = stored, number == 0 || number == 1 else { return nil }
    self = number == 1
  }
}

extension String: JournalValue {
  static var kind: String { "UTF-8 text" }

  init?(_ stored: DatabaseValue.Storage, bytes: Data) {
    guard case .string = stored else { return nil }
    self.init(validating: bytes, as: UTF8.self)
  }
}

extension [UInt8]: JournalValue {
  static var kind: String { "blob" }

  init?(_ stored: DatabaseValue.Storage, bytes: Data) {
    guard case .blob = stored else { return nil }
    self.init(bytes)
  }
}

extension Database {
  /// Calls `read` with each row of a query and returns the results.
  ///
  /// - Parameters:
  ///   - table: the table of the rows, for messages.
  ///   - file: the file, for messages.
  func rows<Value>(
    _ sql: String, _ arguments: StatementArguments = [], of table: String, in file: String,
    _ read: (JournalRow) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    while let row = try rows.next() { values.append(try read(JournalRow(row, table: table, file: file))) }
    return values
  }

  /// Like `rows`, but for the first row only; `nil` if there are no rows.
  func first<Value>(
    _ sql: String, _ arguments: StatementArguments = [], of table: String, in file: String,
    _ read: (JournalRow) throws -> Value
  ) throws -> Value? {
    let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    return try rows.next().map { try read(JournalRow($0, table: table, file: file)) }
  }
}
