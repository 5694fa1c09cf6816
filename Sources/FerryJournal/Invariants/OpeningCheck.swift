import GRDB

/// Checks a session's journal each time it is opened. A journal that takes only a few milliseconds to check
/// is checked completely. In a larger journal, a run checks the rows that it loads (`ItemRow.checkForm`),
/// and `ferry journal check` checks the rest.
enum OpeningCheck {
  /// The maximum size of a journal that is checked completely: 1 MiB, about 5,000 items.
  private static let mostPages = 256

  /// Checks pages and indexes, and that each index matches its table.
  static func pages(_ db: Database, file: String) throws {
    guard try isShort(db) else { return }
    let lines = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
    guard let first = lines.first(where: { $0 != "ok" }) else { return }
    throw JournalError(.damaged, file: file, cause: first.replacing("\n", with: "; "))
  }

  /// Checks the invariants on which a run depends.
  static func rows(_ db: Database, file: String) throws {
    guard try isShort(db) else { return }
    guard let finding = try SessionInvariants.findings(db, in: file).first(where: \.stopsRun) else { return }
    throw JournalError(.damaged, file: file, cause: finding.message)
  }

  private static func isShort(_ db: Database) throws -> Bool {
    try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 <= mostPages
  }
}
