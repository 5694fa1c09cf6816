import Foundation
import GRDB

/// One database of the state folder: its original bytes, and the changes of an input.
///
/// The tables are STRICT and have constraints. Both are removed from the schema while values are changed, so that every
/// column can hold any value. Afterwards, the original schema is restored.
final class JournalDatabase {
  /// The database's path relative to the state folder.
  private let name: String
  private var path = ""
  private let whole: Data
  private let loose: Data
  private let schema: [(name: String, sql: String)]
  private let tables: [(name: String, columns: [String], hasRowID: Bool)]
  private var edits: [JournalEdits.Edit] = []

  /// - Parameter state: the state folder that contains the unchanged database.
  init(_ name: String, in state: String) throws {
    self.name = name
    let path = "\(state)/\(name)"
    let queue = try DatabaseQueue(path: path)
    let (schema, tables) = try queue.writeWithoutTransaction { db in
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      let rows = try Row.fetchAll(
        db,
        sql:
          "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
      )
      let schema = rows.map { ($0["name"] as String, $0["sql"] as String) }
      return (
        schema,
        try schema.map { name, sql in
          (name, try db.columns(in: name).map(\.name), !sql.contains("WITHOUT ROWID"))
        }
      )
    }
    self.schema = schema.map { (name: $0.0, sql: $0.1) }
    self.tables = tables.map { (name: $0.0, columns: $0.1, hasRowID: $0.2) }
    try queue.close()
    whole = try Data(contentsOf: URL(filePath: path))
    try Self.write(self.schema.map { ($0.name, Self.loosened($0.sql)) }, to: path)
    loose = try Data(contentsOf: URL(filePath: path))
  }

  /// Removes `STRICT` and the constraints on values from the schema, but keeps the primary keys.
  private static func loosened(_ sql: String) -> String {
    sql.replacing(" STRICT, WITHOUT ROWID", with: " WITHOUT ROWID").replacing(") STRICT", with: ")")
      .replacing(" NOT NULL", with: "").replacing(#/ CHECK \([a-z_ >=01]*\)/#, with: "")
      .replacing(#/ REFERENCES [a-z]* \([a-z]*\) ON DELETE CASCADE/#, with: "")
  }

  private static func write(_ schema: [(name: String, sql: String)], to path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA writable_schema = ON")
      for (name, sql) in schema {
        try db.execute(
          sql: "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?", arguments: [sql, name])
      }
      try db.execute(sql: "PRAGMA writable_schema = RESET")
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try queue.close()
  }

  /// Writes the unchanged database into another state folder.
  func restore(in state: String) throws {
    edits = []
    path = "\(state)/\(name)"
    try put(whole)
  }

  func queue(_ edit: JournalEdits.Edit) { edits.append(edit) }

  func finish() throws {
    let values = edits.filter { edit in
      switch edit.kind {
      case .set, .delete, .copy: true
      case .flip, .cut: false
      }
    }
    if !values.isEmpty { try change(values) }
    if values.count == edits.count { return }
    var bytes = try Data(contentsOf: URL(filePath: path))
    for edit in edits {
      switch edit.kind {
      case .flip(let offset, let mask): if !bytes.isEmpty { bytes[offset % bytes.count] ^= max(mask, 1) }
      case .cut(let offset): bytes = bytes.prefix(offset)
      case .set, .delete, .copy: break
      }
    }
    try put(bytes)
  }

  private func change(_ edits: [JournalEdits.Edit]) throws {
    try put(loose)
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
      // A change that violates a key has no effect.
      for edit in edits { try? change(edit.kind, db) }
      _ = try Row.fetchAll(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try queue.close()
    try Self.write(schema, to: path)
  }

  private func change(_ kind: JournalEdits.Edit.Kind, _ db: Database) throws {
    switch kind {
    case .set(let number, let column, let rows, let value):
      let table = tables[number % tables.count]
      let name = table.columns[column % table.columns.count]
      try db.execute(
        sql: "UPDATE \(table.name) SET \(name) = ?\(condition(table.hasRowID, rows))", arguments: [value])
    case .delete(let number, let rows):
      let table = tables[number % tables.count]
      try db.execute(sql: "DELETE FROM \(table.name)\(condition(table.hasRowID, rows))")
    case .copy(let number, let column, let value):
      let table = tables[number % tables.count]
      let changed = column % table.columns.count
      let columns = table.columns.enumerated().map { $0.offset == changed ? "?" : $0.element }
      try db.execute(
        sql: "INSERT INTO \(table.name) SELECT \(columns.joined(separator: ", ")) FROM \(table.name) LIMIT 1",
        arguments: [value])
    case .flip, .cut: break
    }
  }

  private func condition(_ hasRowID: Bool, _ rows: Int) -> String {
    hasRowID && rows % 16 != 0 ? " WHERE rowid = \(rows % 16)" : ""
  }

  private func put(_ bytes: Data) throws {
    try bytes.write(to: URL(filePath: path))
    chmod(path, 0o600)
  }
}
