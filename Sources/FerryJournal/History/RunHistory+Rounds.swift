import FerryPlan
import GRDB

extension RunHistory {
  /// Every round, by manifest and number.
  package func forEachRound(_ body: (RoundRow) throws -> Void) throws {
    try read { db in
      let rows = try Row.fetchCursor(
        db, sql: "SELECT manifest, number, opened_at, closed_at FROM round ORDER BY manifest, number")
      while let row = try rows.next() {
        let closed: Int64? = row[3]
        try body(
          RoundRow(
            manifest: row[0], number: row[1], openedAt: Instant(nanoseconds: row[2]),
            closedAt: closed.map(Instant.init(nanoseconds:))))
      }
    }
  }
}
