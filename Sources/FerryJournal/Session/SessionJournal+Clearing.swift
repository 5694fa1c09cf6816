import FerryPlan
import Foundation
import GRDB

extension SessionJournal {
  /// The data dropped by `reset`.
  package struct Dropped: Hashable, Sendable {
    /// The number of dropped items, in any state.
    package var items = 0
    /// The number of dropped items that had an upload ID. The upload ID is now an orphan.
    package var withUploadID = 0
    /// The number of items, fetches and requests for which a commit, or a step that is never resent, may have
    /// reached the server. The request of that step may now be sent a second time.
    package var unanswered = 0
  }

  /// A step that may have reached the server, and that belongs to open work. `reset` would drop the step.
  package struct UnansweredStep: Hashable, Sendable {
    package var manifest: String
    package var node: String
    /// The path of the item; `nil` for a request or a fetch.
    package var path: [UInt8]?
    /// The step of the item; `nil` for a request or a fetch.
    package var step: ItemStep?
    package var round: Int64
  }

  /// All steps that belong to open work, may have reached the server, and have no recorded response. Steps of
  /// items come first, ordered by manifest, node and path; then those of fetches and requests.
  package func unansweredSteps() throws(JournalError) -> [UnansweredStep] {
    try access { db in
      let items = try Row.fetchAll(
        db,
        sql: """
          SELECT manifest, name, path, item.intent, item.round FROM item JOIN node ON node.id = item.node
          WHERE \(Self.openCondition("item.")) AND item.\(Self.mayHaveActed) ORDER BY manifest, name, path
          """
      ).map { row in
        UnansweredStep(
          manifest: row[0], node: row[1], path: Array(row[2] as Data),
          step: ItemStep(rawValue: UInt8(truncatingIfNeeded: row[3] as Int64)), round: row[4])
      }
      let nodes = try Row.fetchAll(
        db,
        sql: """
          SELECT manifest, name, round FROM node WHERE intent IS NOT NULL AND \(Self.isOpen)
          ORDER BY manifest, name
          """
      ).map { UnansweredStep(manifest: $0[0], node: $0[1], round: $0[2]) }
      return items + nodes
    }
  }

  /// The number of items, fetches and requests of all manifests that are ambiguous, or for which a commit, or a step that
  /// is never resent, may have reached the server.
  package func undecidedCount() throws(JournalError) -> Int {
    try access { db in
      let isAmbiguous = "state = \(ItemState.ambiguous.rawValue)"
      let counts = try Int.fetchAll(
        db,
        sql: """
          SELECT count(*) FROM item WHERE \(isAmbiguous) OR (\(Self.isOpen) AND \(Self.mayHaveActed))
          UNION ALL
          SELECT count(*) FROM node WHERE NOT \(NodeRow.Kind.ofItems)
          AND (\(isAmbiguous) OR (\(Self.isOpen) AND intent IS NOT NULL))
          """)
      return counts.reduce(0, +)
    }
  }

  /// Drops the open items of all rounds, the intents of open nodes, the failures of fetches (which are then due
  /// immediately), the resume delay, and pending events. Upload IDs become orphans. The changes are synced when
  /// this method returns.
  ///
  /// Closed items are kept, so that nothing is delivered twice. The caller holds the session's lock, and no
  /// run writes to the journal.
  package func reset(at now: Instant) throws(JournalError) -> Dropped {
    try transaction { db in
      var dropped = Dropped()
      let counted = try db.first(
        """
        SELECT count(*) AS items, count(*) FILTER (WHERE state <> 0) AS allocated,
          count(*) FILTER (WHERE \(Self.mayHaveActed)) AS unanswered
        FROM item WHERE \(Self.isOpen)
        """, of: "item", in: self.path
      ) { row in
        Dropped(
          items: try row.value("items"), withUploadID: try row.value("allocated"),
          unanswered: try row.value("unanswered"))
      }
      if let counted { dropped = counted }
      try OrphanRow.insert(.reset, where: Self.isOpen, at: now, db)
      try db.execute(sql: "DELETE FROM item WHERE \(Self.isOpen)")
      try db.execute(sql: "UPDATE node SET intent = NULL WHERE intent IS NOT NULL AND \(Self.isOpen)")
      dropped.unanswered += db.changesCount
      try db.execute(sql: "UPDATE node SET failed_at = NULL, failing_round = NULL, failing_since = NULL")
      try db.execute(sql: "UPDATE session SET delay_period = NULL, resumed_at = NULL, events_pending = 0")
      return dropped
    }
  }

  /// Closes every item that is open in its round, and returns the number of canceled items. The changes are
  /// synced when this method returns.
  ///
  /// If a commit, or a step that is never resent, may have reached the server, the item, fetch or request becomes
  /// ambiguous instead, and an item keeps its captures: a canceled item would be sent again in the next round. Upload IDs
  /// of the other items become orphans. The caller holds the session's lock, and no run writes to the
  /// journal.
  ///
  /// - Parameter manifest: the manifest whose items are closed; `nil` means all manifests.
  @discardableResult
  package func cancelOpen(
    manifest: String? = nil, reason: RecordedFailure, at now: Instant
  ) throws(JournalError) -> Int {
    try transaction { db in
      let arguments: StatementArguments = [
        now.nanoseconds, reason.code.rawValue, reason.status.map { Int64($0) }, reason.message, manifest,
        manifest,
      ]
      let isMeant = "(? IS NULL OR node IN (SELECT id FROM node WHERE manifest = ?))"
      let end = "closed_at = ?, failure_code = ?, failure_status = ?, failure_message = ?"
      try db.execute(
        sql: """
          UPDATE item SET state = \(ItemState.ambiguous.rawValue), \(end)
          WHERE \(Self.isOpen) AND \(Self.mayHaveActed) AND \(isMeant)
          """,
        arguments: arguments)
      try db.execute(
        sql: """
          UPDATE node SET state = \(ItemState.ambiguous.rawValue), intent = NULL, \(end)
          WHERE intent IS NOT NULL AND \(Self.isOpen) AND (? IS NULL OR manifest = ?)
          """,
        arguments: arguments)
      try OrphanRow.insert(
        .cancelled, where: "\(Self.isOpen) AND \(isMeant)", [manifest, manifest], at: now, db)
      try db.execute(
        sql: """
          UPDATE item SET state = \(ItemState.cancelled.rawValue), \(end), intent = NULL,
          captures = NULL, secret_captures = NULL, expires = NULL, key_header = NULL, key_value = NULL,
          servers = NULL WHERE \(Self.isOpen) AND \(isMeant)
          """,
        arguments: arguments)
      return db.changesCount
    }
  }

  /// Removes a session's journal with all its contents. Has no effect if there is no journal. The caller
  /// holds the session's lock, has removed the session from `ferry.db` (`RunHistory.forget(session:)`), and
  /// has made sure that the journal is not open.
  package static func remove(session identifier: String, in state: StateDirectory) throws(JournalError) {
    let path = try state.database(ofSession: identifier)
    let commits = try state.commits(ofSession: identifier)
    // Remove the commit record first: a record without a journal would be reported as a loss.
    guard unlink(commits) == 0 || errno == ENOENT else {
      throw JournalError(errno: errno, doing: "remove", file: commits)
    }
    // The log is removed first: without its file, it would be mistaken for the log of the next journal.
    for suffix in ["-wal", "-shm", ""] {
      guard unlink(path + suffix) == 0 || errno == ENOENT else {
        throw JournalError(errno: errno, doing: "remove", file: path + suffix)
      }
    }
    try StateDirectory.syncFolder(state.sessionsFolder)
  }

  /// An SQL condition that is true for an item if one of its steps was about to be sent, and the user has not decided
  /// since then whether the step was executed.
  private static var mayHaveActed: String { "intent < \(ItemStep.commitAgain.rawValue)" }

  static var isOpen: String { openCondition("") }

  /// Returns an SQL condition that is true for an open item.
  ///
  /// - Parameter table: the prefix of the column.
  private static func openCondition(_ table: String) -> String {
    let states = [ItemState.queued, .allocated, .transferred].map { "\($0.rawValue)" }
    return "\(table)state IN (\(states.joined(separator: ", ")))"
  }

  /// Runs one transaction and syncs it.
  func transaction<Result>(_ body: (Database) throws -> Result) throws(JournalError) -> Result {
    precondition(isWritable, "a journal opened for reading must not be written to")
    do {
      let result = try access { try self.commit($0, body) }
      try sync()
      try checkpointIfDue()
      return result
    } catch {
      // The log is in an unknown state and must not be checkpointed into the file, as after a lost write in a run.
      abandon()
      throw error
    }
  }
}
