import FerryPlan
import GRDB

extension SessionJournal {
  /// So many items of a node are in this state, of this round.
  package struct RoundCount: Hashable, Sendable {
    /// `NodeRow.id`.
    package var node: Int64
    package var round: Int64
    package var state: ItemState
    package var count: Int
  }

  package func countsByRound() throws(JournalError) -> [RoundCount] {
    try access { db in
      try Row.fetchAll(
        db, sql: "SELECT node, round, state, count(*) AS count FROM item GROUP BY node, round, state"
      ).map { row in
        let raw: Int64 = row["state"]
        guard let state = UInt8(exactly: raw).flatMap(ItemState.init(rawValue:)) else {
          throw JournalError(.damaged, file: self.path, cause: "items have the state \(raw)")
        }
        return RoundCount(node: row["node"], round: row["round"], state: state, count: row["count"])
      }
    }
  }
}
