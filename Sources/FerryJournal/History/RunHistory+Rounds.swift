import FerryPlan
import GRDB

extension RoundRow {
  init(_ row: JournalRow) throws {
    let number: Int64 = try row.value("number")
    guard number >= 0 else { throw row.damaged("number", "\(number)") }
    self.init(
      manifest: try row.value("manifest"), number: number,
      openedAt: Instant(nanoseconds: try row.value("opened_at")),
      closedAt: try row.optional("closed_at", as: Int64.self).map(Instant.init(nanoseconds:)),
      closedBy: try row.optional("closed_by"), pass: try row.optional("pass"))
  }
}

extension RunHistory {
  /// All rounds, by manifest and number.
  package func forEachRound(_ body: (RoundRow) throws -> Void) throws {
    try read { db in
      _ = try db.rows("SELECT * FROM round ORDER BY manifest, number", of: "round", in: self.path) {
        try body(RoundRow($0))
      }
    }
  }
}
