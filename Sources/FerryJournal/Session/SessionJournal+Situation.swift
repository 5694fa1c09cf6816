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

  /// How many items of each node are in each state, in the order of the nodes; those of earlier rounds
  /// included.
  package func counts() throws(JournalError) -> [(node: NodeRow, state: ItemState, count: Int)] {
    try access { db in
      let nodes = Dictionary(
        uniqueKeysWithValues: try Row.fetchAll(db, sql: "SELECT * FROM node")
          .map { ($0["id"] as Int64, try self.node($0)) })
      return try Row.fetchAll(
        db,
        sql: "SELECT node, state, count(*) AS count FROM item GROUP BY node, state ORDER BY node, state"
      ).map { row in
        let id: Int64 = row["node"]
        let raw: Int64 = row["state"]
        guard let node = nodes[id], let state = UInt8(exactly: raw).flatMap(ItemState.init(rawValue:)) else {
          throw JournalError(.damaged, file: self.path, cause: "items have node \(id) and state \(raw)")
        }
        return (node, state, row["count"])
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
