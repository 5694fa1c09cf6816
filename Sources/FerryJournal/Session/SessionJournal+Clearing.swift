import FerryPlan
import Foundation
import GRDB

extension SessionJournal {
  /// What `reset` has dropped.
  package struct Dropped: Hashable, Sendable {
    /// Items, whatever they had.
    package var items = 0
    /// Of those: an upload ID, which is an orphan now.
    package var withUploadID = 0
    /// Items, fetches and requests of which a commit, or a step that is never sent again, may have reached the
    /// server; it may now be sent a second time.
    package var unanswered = 0
  }

  /// A step that may have reached the server, of something that is open; what `reset` would drop.
  package struct UnansweredStep: Hashable, Sendable {
    package var manifest: String
    package var node: String
    /// `nil` for a request or a fetch.
    package var path: [UInt8]?
    /// `nil` for a request or a fetch.
    package var step: ItemStep?
  }

  /// The steps that may have reached the server and whose responses are not recorded, of everything that is open, by
  /// manifest, node and path.
  package func unansweredSteps() throws(JournalError) -> [UnansweredStep] {
    try access { db in
      let items = try Row.fetchAll(
        db,
        sql: """
          SELECT manifest, name, path, item.intent FROM item JOIN node ON node.id = item.node
          WHERE \(Self.openCondition("item.")) AND item.\(Self.mayHaveActed) ORDER BY manifest, name, path
          """
      ).map { row in
        UnansweredStep(
          manifest: row[0], node: row[1], path: Array(row[2] as Data),
          step: ItemStep(rawValue: UInt8(truncatingIfNeeded: row[3] as Int64)))
      }
      let nodes = try Row.fetchAll(
        db,
        sql: """
          SELECT manifest, name FROM node WHERE intent IS NOT NULL AND \(Self.isOpen) ORDER BY manifest, name
          """
      ).map { UnansweredStep(manifest: $0[0], node: $0[1]) }
      return items + nodes
    }
  }

  /// Drops every item that is open, in any round, and forgets the intents of nodes that are not closed, the
  /// resume delay and events that are owed. Upload IDs become orphans. It is on the disk when this returns.
  ///
  /// What is closed stays, so that nothing delivered is delivered again. The caller holds the session's
  /// lock, and no `JournalWriter` has the journal.
  package func reset(at now: Instant) throws(JournalError) -> Dropped {
    try transaction { db in
      var dropped = Dropped()
      let row = try Row.fetchOne(
        db,
        sql: """
          SELECT count(*) AS items, count(*) FILTER (WHERE state <> 0) AS allocated,
            count(*) FILTER (WHERE \(Self.mayHaveActed)) AS unanswered
          FROM item WHERE \(Self.isOpen)
          """)
      if let row {
        dropped.items = row["items"]
        dropped.withUploadID = row["allocated"]
        dropped.unanswered = row["unanswered"]
      }
      try OrphanRow.insert(.reset, where: Self.isOpen, at: now, db)
      try db.execute(sql: "DELETE FROM item WHERE \(Self.isOpen)")
      try db.execute(sql: "UPDATE node SET intent = NULL WHERE intent IS NOT NULL AND \(Self.isOpen)")
      dropped.unanswered += db.changesCount
      try db.execute(sql: "UPDATE session SET delay_period = NULL, resumed_at = NULL, events_pending = 0")
      return dropped
    }
  }

  /// Ends every item that is open in its round, and returns how many became cancelled. It is on the disk
  /// when this returns.
  ///
  /// One of which a commit, or a step that is never sent again, may have reached the server ends ambiguous
  /// instead, with its captures: a cancelled one would be sent again in the next round. Upload IDs of the others
  /// become orphans. The caller holds the session's lock, and no `JournalWriter` has the journal.
  ///
  /// - Parameter manifest: whose items are ended; `nil` means everyone's.
  @discardableResult
  package func cancelOpen(
    manifest: String? = nil, reason: RecordedFailure, at now: Instant
  ) throws(JournalError) -> Int {
    try transaction { db in
      let arguments: StatementArguments = [
        now.nanoseconds, reason.code, reason.status.map { Int64($0) }, reason.message, manifest, manifest,
      ]
      let isMeant = "(? IS NULL OR node IN (SELECT id FROM node WHERE manifest = ?))"
      let end = "closed_at = ?, failure_code = ?, failure_status = ?, failure_message = ?"
      try db.execute(
        sql: """
          UPDATE item SET state = \(ItemState.ambiguous.rawValue), \(end)
          WHERE \(Self.isOpen) AND \(Self.mayHaveActed) AND \(isMeant)
          """,
        arguments: arguments)
      try OrphanRow.insert(
        .cancelled, where: "\(Self.isOpen) AND \(isMeant)", [manifest, manifest], at: now, db)
      try db.execute(
        sql: """
          UPDATE item SET state = \(ItemState.cancelled.rawValue), \(end), intent = NULL,
          captures = NULL, secret_captures = NULL, expires = NULL WHERE \(Self.isOpen) AND \(isMeant)
          """,
        arguments: arguments)
      return db.changesCount
    }
  }

  /// Removes a session's journal with everything that it remembers; without one there is nothing to do. The
  /// caller holds the session's lock, has removed the session from `ferry.db` (`RunHistory.forget(session:)`), and
  /// nobody has the journal open.
  package static func remove(session identifier: String, in state: StateDirectory) throws(JournalError) {
    let path = try state.database(ofSession: identifier)
    let commits = try state.commits(ofSession: identifier)
    // What was recorded goes before what it was recorded of.
    guard unlink(commits) == 0 || errno == ENOENT else {
      throw JournalError(errno: errno, doing: "remove", file: commits)
    }
    // The log goes first: one without its file would be taken for the next journal's.
    for suffix in ["-wal", "-shm", ""] {
      guard unlink(path + suffix) == 0 || errno == ENOENT else {
        throw JournalError(errno: errno, doing: "remove", file: path + suffix)
      }
    }
    try StateDirectory.syncFolder(state.sessionsFolder)
  }

  /// SQL: a step of the item was about to be sent, and nobody has decided of it since.
  private static var mayHaveActed: String { "intent < \(ItemStep.commitAgain.rawValue)" }

  private static var isOpen: String { openCondition("") }

  /// - Parameter table: the prefix of the column.
  private static func openCondition(_ table: String) -> String {
    let states = [ItemState.queued, .allocated, .transferred].map { "\($0.rawValue)" }
    return "\(table)state IN (\(states.joined(separator: ", ")))"
  }

  /// One transaction, synced.
  func transaction<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    precondition(isWritable, "a journal opened for reading is not written to")
    do {
      let result = try access { try self.commit($0, body) }
      try sync()
      try checkpointIfDue()
      return result
    } catch {
      // As after a lost write of a run: a log of unknown state is not moved into the file.
      abandon()
      throw error
    }
  }
}
