import FerryPlan
import GRDB

extension SessionJournal {
  /// As the last `.resumed` and `.events` left it.
  package var situation: SessionSituation {
    get throws(JournalError) {
      try access { db in
        guard let row = try Row.fetchOne(db, sql: "SELECT * FROM session WHERE id = 1") else {
          throw JournalError(.damaged, file: self.path, cause: "the table session has no row")
        }
        let period: Int64? = row["delay_period"]
        let resumedAt: Int64? = row["resumed_at"]
        var situation = SessionSituation(delay: nil, hasPendingEvents: row["events_pending"])
        if let period, let resumedAt {
          situation.delay = (.nanoseconds(period), Instant(nanoseconds: resumedAt))
        }
        return situation
      }
    }
  }
}

extension SessionJournal {
  /// The `on_events` that was owed has been started. Synced; no `JournalWriter` has the journal.
  package func clearEvents() throws(JournalError) {
    try commitAndSync([.events(pending: false)])
  }
}
