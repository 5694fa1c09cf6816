import GRDB

/// The checks of a session's journal at each opening: all of them, as long as they cost a few milliseconds. In a longer
/// journal a run checks the rows that it loads (`ItemRow.checkForm`), and `ferry journal check` checks the rest.
enum OpeningCheck {
  /// 1 MiB: some 5,000 items.
  private static let mostPages = 256

  /// Pages, indexes, and that each index fits its table.
  static func pages(_ db: Database, file: String) throws {
    guard try isShort(db) else { return }
    let lines = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
    guard let first = lines.first(where: { $0 != "ok" }) else { return }
    throw JournalError(.damaged, file: file, cause: first.replacing("\n", with: "; "))
  }

  /// The rules of ferry's own tables that a run depends on.
  static func rows(_ db: Database, file: String) throws {
    guard try isShort(db) else { return }
    guard let finding = try SessionInvariants.findings(db).first(where: \.stopsRun) else { return }
    throw JournalError(.damaged, file: file, cause: finding.message)
  }

  private static func isShort(_ db: Database) throws -> Bool {
    try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0 <= mostPages
  }
}
