import FerryPlan
import Foundation
import GRDB
import GRDBSQLite

/// Checks that a session's journal still contains all transactions that were written to it.
extension SessionJournal {
  /// The journal's own transaction count; 0 if the journal is new or was written before transactions were
  /// counted.
  static func transactions(_ db: Database, _ verdict: DatabaseSchema.Verdict) throws -> Int64 {
    switch verdict {
    case .new: 0
    case .version(let version) where version < 6: 0
    case .version: try transactions(db)
    }
  }

  static func transactions(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(db, sql: "SELECT commits FROM session WHERE id = 1") ?? 0
  }

  /// The error for an existing journal file that lacks recorded transactions; `nil` if no transaction is
  /// missing.
  static func loss(in path: String, _ stored: CommitCounts?, found: Int64) -> JournalError? {
    guard let lost = stored?.lost(from: found), lost > 0 else { return nil }
    return JournalError(
      .commitsLost, file: path,
      cause: "\(lost) of the \(found +| lost) recorded transactions are missing; "
        + "the journal or its log, \(path)-wal, is damaged, was removed, or is an older copy")
  }

  /// The error for a session whose journal file is missing or empty although the session has had a journal;
  /// `nil` otherwise.
  static func loss(
    of identifier: String, in state: StateDirectory, _ stored: CommitCounts?,
    known: @autoclosure () throws(JournalError) -> Set<String>
  ) throws(JournalError) -> JournalError? {
    let presence = try state.presence(ofSession: identifier)
    guard presence != .there else { return nil }
    let lost = stored?.lost(from: 0) ?? 0
    if lost == 0 {
      guard try known().contains(identifier) else { return nil }
    }
    let recorded = lost > 0 ? ", with \(Count.text(lost, "recorded transaction"))" : ""
    let cause =
      presence == .emptied
      ? "the file is empty, but its session previously had a journal\(recorded)"
      : "the session previously had one\(recorded)"
    return JournalError(.missing, file: try state.database(ofSession: identifier), cause: cause)
  }

  /// Checkpoints a new journal into its file, and syncs the file and its name. From then on, a missing or empty file
  /// means that the journal was lost, even after a power failure.
  static func settle(_ queue: DatabaseQueue, path: String) throws(JournalError) {
    do {
      try queue.writeWithoutTransaction { db in
        // With synchronous=NORMAL, a checkpoint syncs the log and then the file.
        let code = sqlite3_wal_checkpoint_v2(db.sqliteConnection, "main", SQLITE_CHECKPOINT_FULL, nil, nil)
        guard code == SQLITE_OK else { throw db.failure(code) }
      }
    } catch {
      throw JournalError(error, file: path, on: queue)
    }
    try StateDirectory.syncFolder(SplitPath(path).folder)
  }

  /// The loss that the user accepts.
  package enum Loss: Hashable, Sendable {
    /// The loss of this number of transactions. The journal is used in its current state.
    case transactions(Int64)
    /// The loss of the whole journal. The next run creates an empty one.
    case journal
  }

  /// Accepts a journal in its current state, or as lost; the loss is not reported again. The caller holds
  /// the session's lock, and removes the session from `ferry.db` before a journal is accepted as lost.
  ///
  /// - Returns: `nil` if nothing is lost; in that case, the journal is not changed.
  package static func acceptLoss(
    session identifier: String, in state: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> Loss? {
    guard try state.presence(ofSession: identifier) == .there else {
      try remove(session: identifier, in: state)
      return .journal
    }
    let stored = try StoredCommits.read(state.commits(ofSession: identifier)).counts
    let journal = try open(
      session: identifier, in: state, known: [], acceptsLoss: true, writtenBy: ferry, at: now)
    let found = journal.commits?.committed ?? 0
    try journal.close()
    guard let lost = stored?.lost(from: found), lost > 0 else { return nil }
    return .transactions(lost)
  }
}
