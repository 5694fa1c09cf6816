import GRDB

/// SQLite's own checks of a file, and a comparison of its tables with its schema.
enum DatabaseIntegrity {
  /// The maximum number of SQLite messages to report.
  private static let messages = 10

  static func findings(_ db: Database, _ file: DatabaseFile) -> [JournalFinding] {
    var findings: [JournalFinding] = []
    do {
      findings += pages(try String.fetchAll(db, sql: "PRAGMA integrity_check(\(messages))"), db, file)
    } catch {
      findings.append(damage(["\(JournalError(error, file: file.path).cause)"], db, file))
    }
    // If a table cannot be read, its pages have already been reported as damaged.
    findings += (try? references(db)) ?? []
    findings += (try? schema(db, file)) ?? []
    return findings
  }

  /// The number of rows in each of ferry's tables.
  static func rows(_ db: Database) throws -> [String: Int64] {
    var rows: [String: Int64] = [:]
    for table in try tables(db) {
      rows[table] = try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
    }
    return rows
  }

  private static func tables(_ db: Database) throws -> [String] {
    try String.fetchAll(
      db,
      sql:
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND \(isOurs) AND name <> 'history' ORDER BY name"
    )
  }

  private static let isOurs = "name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'grdb_migrations'"

  /// Distinguishes damage that affects only an index from lost data.
  private static func pages(_ lines: [String], _ db: Database, _ file: DatabaseFile) -> [JournalFinding] {
    let wrong = lines.filter { $0 != "ok" }
    guard !wrong.isEmpty else { return [] }
    let ofIndexes = wrong.filter { line in
      ["missing from index", "wrong # of entries in index", "non-unique entry in index"]
        .contains { line.contains($0) }
    }
    var findings: [JournalFinding] = []
    if ofIndexes.count < wrong.count {
      findings.append(damage(wrong.filter { !ofIndexes.contains($0) }, db, file))
    } else {
      let isDouble = ofIndexes.contains { $0.contains("non-unique") }
      findings.append(
        JournalFinding(
          .indexDiffers, "an index does not match its table: \(text(ofIndexes))",
          effect: isDouble
            ? "two rows have the same key, and ferry cannot determine which of them is valid"
            : "no information is lost, but a search that uses this index can miss rows",
          remedy: "stop every ferry process, keep a copy of the file, then run: sqlite3 FILE 'REINDEX'"
            + (isDouble ? "; if that fails, delete one of the two rows first" : "")))
    }
    return findings
  }

  private static func damage(_ lines: [String], _ db: Database, _ file: DatabaseFile) -> JournalFinding {
    JournalFinding(
      .damagedPages, "some of its pages are damaged: \(text(lines))", effect: readable(db),
      remedy: remedy(file)
    )
  }

  /// The procedure for damaged pages.
  ///
  /// It uses `.dump`, not `.recover`, because Debian builds its sqlite3 without the option that `.recover`
  /// needs (SQLITE_ENABLE_DBPAGE_VTAB). A dump that encounters damage ends with a ROLLBACK, and does not
  /// include the application ID or the version.
  static func remedy(_ file: DatabaseFile) -> String {
    "stop every ferry process, and keep a copy of the file and its -wal file. Save the readable rows: "
      + "umask 077; sqlite3 -readonly FILE .dump | sed 's/^ROLLBACK;.*/COMMIT;/' | sqlite3 NEW; "
      + "sqlite3 NEW \"PRAGMA application_id = \(file.schema.applicationID); "
      + "PRAGMA user_version = $(sqlite3 -readonly FILE 'PRAGMA user_version')\". "
      + "Then move the file and its -wal and -shm files away, put NEW in its place, and check it again. "
      + "Without a session's journal, all files whose delivery it records are sent again"
  }

  /// The readable part of each table, determined row by row.
  private static func readable(_ db: Database) -> String {
    // Without the list of tables, nothing can be read.
    guard let tables = try? tables(db) else {
      return "the list of tables, and therefore every row, is unreadable"
    }
    let parts = tables.map { table -> String in
      var count = 0
      do {
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM \(table) NOT INDEXED")
        while try rows.next() != nil { count += 1 }
        return "all \(count) rows of \(table)"
      } catch {
        return "the first \(count) rows of \(table)"
      }
    }
    return "the damaged pages are lost; the following can be read: \(parts.joined(separator: ", "))"
  }

  private static func references(_ db: Database) throws -> [JournalFinding] {
    let rows = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
    guard let first = rows.first else { return [] }
    let table: String = first[0]
    let parent: String = first[2]
    return [
      JournalFinding(
        .brokenReference,
        rows.count == 1
          ? "1 row of \(table) refers to a missing row of \(parent)"
          : "\(rows.count) rows refer to missing rows, the first one from \(table) to \(parent)",
        effect: "the missing rows of \(parent) are lost; the rows that refer to them are harmless",
        remedy: "if the missing rows are needed, restore an older copy of the file")
    ]
  }

  /// Compares the tables with the tables that the migrations create.
  private static func schema(_ db: Database, _ file: DatabaseFile) throws -> [JournalFinding] {
    let model = try DatabaseFile.inMemory(file.schema)
    let closer = DatabaseCloser(model)
    defer { withExtendedLifetime(closer) {} }
    let query = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND \(isOurs)"
    func read(_ db: Database) throws -> [String: String] {
      Dictionary(
        try db.rows(query, of: "sqlite_schema", in: file.path) {
          (try $0.value("name", as: String.self), try $0.value("sql", as: String.self))
        }, uniquingKeysWith: { first, _ in first })
    }
    let wanted = try model.read(read)
    let found = try read(db)
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    var parts = wanted.keys.filter { found[$0] == nil }.sorted().map { "\($0) is missing" }
    parts += found.keys.filter { wanted[$0] != nil && wanted[$0] != found[$0] }.sorted()
      .map { "\($0) differs" }
    parts += found.keys.filter { wanted[$0] == nil }.sorted().map { "\($0) is not ferry's" }
    if version != file.schema.version { parts.append("its schema version is \(version)") }
    // Step times differ between files, so check only that each step is present in the history.
    let steps = try Int.fetchAll(db, sql: "SELECT version FROM history ORDER BY version")
    if steps != Array(1...file.schema.version) { parts.append("its history lists the versions \(steps)") }
    guard !parts.isEmpty else { return [] }
    return [
      JournalFinding(
        .schemaDiffers, "it does not match schema \(file.schema.version): \(parts.joined(separator: ", "))",
        effect: "the contents of missing tables and columns are lost",
        remedy:
          "the file was edited manually, or a disk fault interrupted a migration: keep a copy of the file, "
          + "and restore an older one")
    ]
  }

  private static func text(_ lines: [String]) -> String {
    let text = lines.map { $0.replacing("*** in database main ***\n", with: "") }
      .joined(separator: "; ").replacing("\n", with: "; ")
    return lines.count >= messages ? text + "; and more" : text
  }
}
