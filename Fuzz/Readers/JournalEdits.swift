import Foundation
import GRDB

/// Decodes an input into a sequence of changes to values and bytes of the databases.
struct JournalEdits: IteratorProtocol {
  struct Edit {
    enum Kind {
      case set(table: Int, column: Int, rows: Int, DatabaseValue)
      case delete(table: Int, rows: Int)
      case copy(table: Int, column: Int, DatabaseValue)
      case flip(offset: Int, mask: UInt8)
      case cut(offset: Int)
    }

    var database: Int
    var kind: Kind
  }

  /// The maximum number of changes. More changes would take time and reveal nothing new.
  private static let most = 32

  private var rest: ArraySlice<UInt8>
  private var count = 0

  init(_ input: [UInt8]) { rest = input[...] }

  mutating func next() -> Edit? {
    guard count < Self.most, let code = byte() else { return nil }
    count += 1
    let table = byte() ?? 0
    let kind: Edit.Kind =
      switch code >> 1 & 15 {
      case 0...9: .set(table: Int(table), column: Int(byte() ?? 0), rows: Int(byte() ?? 0), value())
      case 10: .delete(table: Int(table), rows: Int(byte() ?? 0))
      case 11...12: .copy(table: Int(table), column: Int(byte() ?? 0), value())
      case 13...14:
        .flip(offset: Int(table) << 16 | Int(byte() ?? 0) << 8 | Int(byte() ?? 0), mask: byte() ?? 1)
      default: .cut(offset: Int(table) << 8 | Int(byte() ?? 0))
      }
    return Edit(database: Int(code & 1), kind: kind)
  }

  private mutating func byte() -> UInt8? { rest.popFirst() }

  private mutating func value() -> DatabaseValue {
    let kind = byte() ?? 0
    switch kind & 7 {
    case 0: return .null
    case 1: return Self.numbers[Int(byte() ?? 0) % Self.numbers.count].databaseValue
    case 2: return Int64(bitPattern: bytes(8).reduce(0) { $0 << 8 | UInt64($1) }).databaseValue
    case 3: return Double(bitPattern: bytes(8).reduce(0) { $0 << 8 | UInt64($1) }).databaseValue
    case 4: return Data(bytes(Int(kind >> 3))).databaseValue
    case 5: return Int64(Int8(bitPattern: byte() ?? 0)).databaseValue
    case 6: return Data(repeating: byte() ?? 0, count: Int(byte() ?? 0) << 8).databaseValue
    default: return String(decoding: bytes(Int(kind >> 3)), as: UTF8.self).databaseValue
    }
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  private static let numbers: [Int64] = [
    .min, .min + 1, -1, 0, 1, 2, 3, 255, 256, 1 << 31, 1 << 32, 1 << 53, (1 << 62) - 1, 1 << 62, .max - 1,
    .max,
    1_774_000_000_000_000_000,
  ]
}
