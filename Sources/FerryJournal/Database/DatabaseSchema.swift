import FerryPlan
import GRDB

/// The contents of one kind of file, and all migrations from the first released format to the current one.
struct DatabaseSchema: Sendable {
  struct Migration: Sendable {
    /// The name of the migration, which is stored in the file. The name of a released migration must never
    /// change.
    var name: String
    var sql: String
  }

  /// Stored at byte 68 of the file. It identifies the file to ferry and to `file(1)`.
  let applicationID: Int32
  /// The migrations, in order. A migration's version is its position, starting at 1.
  let migrations: [Migration]

  var version: Int { migrations.count }

  enum Verdict: Equatable, Sendable {
    /// The file is empty.
    case new
    /// A ferry file of this version.
    case version(Int)
  }

  /// Checks a file without changing it. Throws if ferry must not use it.
  func judge(_ db: Database, file: String) throws -> Verdict {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    let tables =
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
          AND name <> 'grdb_migrations'
          """) ?? 0
    if application == 0, version == 0, tables == 0 { return .new }
    guard application == applicationID else {
      throw JournalError(.foreign, file: file, cause: "its application id is \(application)")
    }
    guard version <= self.version else {
      throw JournalError(
        .newerSchema, file: file,
        cause: "its schema version is \(version), but this ferry supports versions up to \(self.version)")
    }
    let known = Set(migrations.map(\.name))
    if let unknown = try migrator().appliedIdentifiers(db).first(where: { !known.contains($0) }) {
      throw JournalError(
        .newerSchema, file: file,
        cause: "it contains the migration \"\(unknown)\", which this ferry does not support")
    }
    return .version(version)
  }

  /// Migrates a file. Each step is one transaction: its tables, its row in `history`, and the version in the
  /// header.
  func migrator(writtenBy ferry: String = "", at now: Instant = Instant(nanoseconds: 0)) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for (index, migration) in migrations.enumerated() {
      let version = index + 1
      let applicationID = applicationID
      migrator.registerMigration(migration.name, foreignKeyChecks: .immediate) { db in
        if version == 1 {
          try db.execute(
            sql: """
              CREATE TABLE history (
                version INTEGER PRIMARY KEY, ferry TEXT NOT NULL, migrated_at INTEGER NOT NULL) STRICT
              """)
          try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        try db.execute(sql: migration.sql)
        try db.execute(
          sql: "INSERT INTO history (version, ferry, migrated_at) VALUES (?, ?, ?)",
          arguments: [version, ferry, now.nanoseconds])
        try db.execute(sql: "PRAGMA user_version = \(version)")
      }
    }
    return migrator
  }
}
