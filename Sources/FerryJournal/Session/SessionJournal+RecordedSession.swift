import FerryPlan
import GRDB

extension SessionJournal {
  /// The state recorded by the last `.resumed`, `.foreground` and `.events`.
  package var recorded: RecordedSession {
    get throws(JournalError) {
      try access { db in
        let known = try db.first("SELECT * FROM session WHERE id = 1", of: "session", in: self.path) { row in
          let period: Int64? = try row.optional("delay_period")
          let resumedAt: Int64? = try row.optional("resumed_at")
          var recorded = RecordedSession(delay: nil, hasPendingEvents: try row.value("events_pending"))
          let foregroundAt: Int64? = try row.optional("foreground_at")
          recorded.foregroundAt = foregroundAt.map(Instant.init(nanoseconds:))
          if let period, let resumedAt {
            recorded.delay = (.nanoseconds(period), Instant(nanoseconds: resumedAt))
          }
          return recorded
        }
        guard let known else {
          throw JournalError(.damaged, file: self.path, cause: "the table session has no row")
        }
        return known
      }
    }
  }
}

extension SessionJournal {
  /// Records that the pending `on_events` was started. The change is synced. Call this only when no run is writing to
  /// the journal.
  package func clearEvents() throws(JournalError) {
    try commitAndSync([.events(pending: false)])
  }
}
