import FerryPlan
import Foundation
import GRDB

extension SessionJournal {
  /// An item whose request may have been carried out.
  package struct AmbiguousItem: Sendable {
    package var id: Int64
    package var path: [UInt8]
    /// The one that may have been.
    package var step: ItemStep
    package var closedAt: Instant?
    package var captures: [CapturedValue]
    package var failure: RecordedFailure?
  }

  /// What a person decides of something ambiguous.
  package enum Decision: Sendable {
    /// It was carried out.
    case done
    /// It was not: the next run goes on with it, in this round.
    case again(round: Int64)
  }

  /// The ambiguous items of a node, by their paths.
  package func ambiguousItems(node: Int64) throws -> [AmbiguousItem] {
    var items: [AmbiguousItem] = []
    let sql = """
      SELECT \(ItemRow.columns) FROM item WHERE node = ? AND state = \(ItemState.ambiguous.rawValue)
      ORDER BY path
      """
    try forEachItem(sql: sql, node: node) { items.append(try Self.ambiguous($0)) }
    return items
  }

  package static func ambiguous(_ row: borrowing ItemRow) throws(JournalError) -> AmbiguousItem {
    // Without an intent it is a commit that has something to recognize it by; one that a person has let be sent again
    // is the same commit.
    let intent = try row.intent
    let step = intent == .commitAgain ? .commit : intent ?? .commit
    return AmbiguousItem(
      id: row.id, path: row.path, step: step, closedAt: row.closedAt,
      captures: try row.captures, failure: row.failure)
  }

  /// Ends ambiguous items as a person decides. It is on the disk when this returns.
  ///
  /// One that is sent again goes on at its commit, with its captures, where that was the step; otherwise it begins
  /// anew, and the upload ID that it had is an orphan. `timeout_for_resource` counts from now. The caller holds the
  /// session's lock, and no `JournalWriter` has the journal.
  package func resolve(
    items: [(item: AmbiguousItem, decision: Decision)], nodes: [(node: Int64, decision: Decision)],
    at now: Instant
  ) throws(JournalError) {
    try transaction { db in
      for (item, decision) in items { try Self.resolve(item, decision, at: now, db) }
      for (node, decision) in nodes {
        let state: ItemState =
          switch decision {
          case .done: .done
          case .again: .queued
          }
        try db.execute(
          sql: """
            UPDATE node SET state = ?, closed_at = ?, intent = NULL, failure_code = NULL, failure_status = NULL,
            failure_message = NULL WHERE id = ? AND state = \(ItemState.ambiguous.rawValue)
            """,
          arguments: [Int64(state.rawValue), state == .done ? now.nanoseconds : nil, node])
      }
    }
  }

  private static func resolve(
    _ item: AmbiguousItem, _ decision: Decision, at now: Instant, _ db: Database
  ) throws {
    let isAmbiguous = "id = ? AND state = \(ItemState.ambiguous.rawValue)"
    let clear = "failure_code = NULL, failure_status = NULL, failure_message = NULL"
    let forget = "captures = NULL, secret_captures = NULL, expires = NULL"
    switch decision {
    case .done:
      // A delivered file: the next launch clears what is owed to it where the manifest asks for nothing.
      try db.cachedStatement(
        sql: """
          UPDATE item SET state = \(ItemState.done.rawValue), closed_at = ?,
          after = \(AfterState.owed.rawValue), intent = NULL, \(clear), \(forget) WHERE \(isAmbiguous)
          """
      ).execute(arguments: [now.nanoseconds, item.id])
    case .again(let round):
      let isCommit = item.step == .commit
      let kept: ItemState = isCommit ? .transferred : .queued
      if kept == .queued {
        // It was not carried out: that is what was decided.
        try OrphanRow.insert(
          .retried, isInDoubt: false, where: isAmbiguous, [item.id], at: now, db)
      }
      try db.cachedStatement(
        sql: """
          UPDATE item SET state = ?, round = ?, handed_over = ?, closed_at = NULL, intent = ?, \(clear)
          \(isCommit ? "" : ", sha256 = NULL, \(forget)") WHERE \(isAmbiguous)
          """
      ).execute(
        arguments: [
          Int64(kept.rawValue), round, now.nanoseconds,
          isCommit ? Int64(ItemStep.commitAgain.rawValue) : nil, item.id,
        ])
    }
  }
}
