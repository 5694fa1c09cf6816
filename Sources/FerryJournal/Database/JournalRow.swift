import Foundation
import GRDB

/// A row of a query, whose values are checked as they are read.
///
/// A journal that was damaged or forged may hold NULL, text or any number in every column, and may lack columns. GRDB's
/// own subscripts end the process there; these report the file, the table, the row and the column.
struct JournalRow {
  private let row: Row
  private let table: String
  private let file: String

  /// - Parameter row: one that its query is at, not a copy: text is checked as it lies in the file.
  fileprivate init(_ row: Row, table: String, file: String) {
    self.row = row
    self.table = table
    self.file = file
  }

  /// The value of a column that is never NULL.
  func value<Value: JournalValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value {
    guard let value: Value = try optional(column) else {
      throw damaged(column, "NULL (expected: \(Value.kind))")
    }
    return value
  }

  /// The value of a column; `nil` for NULL.
  func optional<Value: JournalValue>(_ column: String, as type: Value.Type = Value.self) throws -> Value? {
    guard row.hasColumn(column) else { throw damaged(column, "not there") }
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
    // The stored text is repaired by now, where it is not UTF-8.
    case .string, .blob: try row.withUnsafeData(named: column) { Value(stored, bytes: $0 ?? Data()) }
    }
  }

  /// A number that stands for a case.
  func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == UInt8 {
    let raw: Int64 = try value(column)
    guard let word = UInt8(exactly: raw).flatMap(Word.init(rawValue:)) else {
      throw damaged(column, "\(raw), which ferry never writes")
    }
    return word
  }

  /// A word that stands for a case.
  func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == String {
    let raw: String = try value(column)
    guard let word = Word(rawValue: raw) else {
      throw damaged(column, "\"\(raw)\", which ferry never writes")
    }
    return word
  }

  /// The error for a column whose value cannot be.
  func damaged(_ column: String, _ what: String) -> JournalError {
    JournalError(.damaged, file: file, cause: "in the table \(table), \(key): \(column) is \(what)")
  }

  /// Which row it is, for people: its first column, which is its key or what the query groups by.
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

/// A type that a journal's columns hold.
protocol JournalValue {
  /// For messages.
  static var kind: String { get }

  /// `nil` where another type is stored; nothing is converted.
  ///
  /// - Parameter bytes: of text and blobs, as they lie in the file.
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
  static var kind: String { "text in UTF-8" }

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
  /// What `read` makes of each row of a query.
  ///
  /// - Parameters:
  ///   - table: where the rows are from, for messages.
  ///   - file: likewise.
  func rows<Value>(
    _ sql: String, _ arguments: StatementArguments = [], of table: String, in file: String,
    _ read: (JournalRow) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    while let row = try rows.next() { values.append(try read(JournalRow(row, table: table, file: file))) }
    return values
  }

  /// The same of the first row; `nil` where there is none.
  func first<Value>(
    _ sql: String, _ arguments: StatementArguments = [], of table: String, in file: String,
    _ read: (JournalRow) throws -> Value
  ) throws -> Value? {
    let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
    return try rows.next().map { try read(JournalRow($0, table: table, file: file)) }
  }
}
