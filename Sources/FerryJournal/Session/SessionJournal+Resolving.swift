import FerryPlan
import Foundation
import GRDB

extension SessionJournal {
  /// An item whose request may have been executed.
  package struct AmbiguousItem: Sendable {
    package var id: Int64
    package var path: [UInt8]
    /// The step that may have been executed.
    package var step: ItemStep
    package var closedAt: Instant?
    package var captures: [CapturedValue]
    /// The servers to which the upload ID or the transferred file belongs, as in `ItemRow`.
    package var servers: String?
    package var failure: RecordedFailure?
  }

  /// The user's decision about an ambiguous request.
  package enum Decision: Sendable {
    /// The request was executed, and nothing remains to be sent.
    case done
    /// The transfer was executed. The next run continues the item in this round, with its commit.
    case transferred(round: Int64)
    /// The request was not executed. The next run resumes the work. An item continues in this round.
    case again(round: Int64)
  }

  /// The ambiguous items of a node, ordered by path.
  package func ambiguousItems(node: Int64) throws -> [AmbiguousItem] {
    var items: [AmbiguousItem] = []
    try forEachItem(sql: Self.ambiguousRows, node: node) { items.append(try Self.ambiguous($0)) }
    return items
  }

  /// Calls `body` with each ambiguous item of a node, ordered by path.
  package func forEachAmbiguous(
    node: Int64, _ body: (borrowing ItemRow) -> Void
  ) throws(JournalError) {
    do {
      try forEachItem(sql: Self.ambiguousRows, node: node, body)
    } catch let error as JournalError {
      throw error
    } catch {
      throw JournalError(.io, file: path, cause: "\(error)")
    }
  }

  /// The number of items, fetches and requests that are ambiguous, in all rounds.
  package func ambiguousCount() throws(JournalError) -> Int {
    let items = try countsByRound().reduce(0) { $0 + ($1.state == .ambiguous ? $1.count : 0) }
    return items + (try nodes.count { !$0.kind.hasItems && $0.state == .ambiguous })
  }

  private static let ambiguousRows = """
    SELECT \(ItemRow.columns) FROM item WHERE node = ? AND state = \(ItemState.ambiguous.rawValue) ORDER BY path
    """

  package static func ambiguous(_ row: borrowing ItemRow) throws(JournalError) -> AmbiguousItem {
    // `commitAgain` and `commitDeferred` also denote the commit.
    let intent = try row.intent
    let step = [.commitAgain, .commitDeferred].contains(intent) ? .commit : intent ?? .transfer
    return AmbiguousItem(
      id: row.id, path: row.path, step: step, closedAt: row.closedAt,
      captures: try row.captures, servers: row.servers, failure: row.failure)
  }

  /// Closes ambiguous items according to the user's decision. The changes are synced when this method
  /// returns.
  ///
  /// A transferred item keeps its captures, which its commit may need.
  ///
  /// If a resent item was at its commit, it resumes there with its captures. Otherwise it starts over, and
  /// its upload ID becomes an orphan. `timeout_for_resource` starts again. The caller holds the session's
  /// lock, and no run writes to the journal.
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
          case .transferred, .again: .queued
          }
        try db.execute(
          sql: """
            UPDATE node SET state = ?, closed_at = ?, intent = NULL, failure_code = ?, failure_status = NULL,
            failure_message = ?, failed_at = NULL WHERE id = ? AND state = \(ItemState.ambiguous.rawValue)
            """,
          arguments: [
            Int64(state.rawValue), state == .done ? now.nanoseconds : nil,
            state == .done ? RecordedFailure.resolved.code.rawValue : nil,
            state == .done ? RecordedFailure.resolved.message : nil, node,
          ])
      }
    }
  }

  private static func resolve(
    _ item: AmbiguousItem, _ decision: Decision, at now: Instant, _ db: Database
  ) throws {
    let isAmbiguous = "id = ? AND state = \(ItemState.ambiguous.rawValue)"
    let clear = "failure_code = NULL, failure_status = NULL, failure_message = NULL"
    let noKey = "key_header = NULL, key_value = NULL"
    let forget = "captures = NULL, secret_captures = NULL, expires = NULL, servers = NULL, \(noKey)"
    switch decision {
    case .done:
      // The `after` action of the delivered file becomes pending. If the manifest does not request one, the
      // next launch clears it. The captures are kept, because another item may have the same upload ID, which
      // must not be released.
      try db.cachedStatement(
        sql: """
          UPDATE item SET state = \(ItemState.done.rawValue), closed_at = ?,
          after = \(AfterState.owed.rawValue), intent = NULL, \(clear), expires = NULL,
          \(noKey) WHERE \(isAmbiguous)
          """
      ).execute(arguments: [now.nanoseconds, item.id])
    case .transferred(let round):
      try db.cachedStatement(
        sql: """
          UPDATE item SET state = \(ItemState.transferred.rawValue), round = ?, handed_over = ?, closed_at = NULL,
          intent = NULL, \(clear), expires = NULL, \(noKey) WHERE \(isAmbiguous)
          """
      ).execute(arguments: [round, now.nanoseconds, item.id])
    case .again(let round):
      let isCommit = item.step == .commit
      let kept: ItemState = isCommit ? .transferred : .queued
      if kept == .queued {
        // The orphan is not in doubt, because the user decided that the request was not executed.
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
