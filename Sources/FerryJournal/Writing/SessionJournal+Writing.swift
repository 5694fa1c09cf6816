import FerryPlan
import GRDB
import GRDBSQLite

extension SessionJournal {
  /// The maximum number of rows of one insert per transaction. A transaction with a million rows would make
  /// the log correspondingly long.
  static let rowsPerTransaction = 20_000
  /// The log is checkpointed into the file after this many pages have been written to it: 4 MiB.
  static let checkpointPages: Int32 = 1024

  /// Commits the writes in order. When this method returns, the writes survive the end of the process, but
  /// not yet a power failure.
  ///
  /// Usually, one transaction suffices; only an insert of many rows takes several. A process that reads
  /// during such an insert finds only some of the queued items; the next listing finds the others.
  ///
  /// - Parameter quiet: waits until no other sync of the log is running. Called before a checkpoint between
  ///   two transactions.
  func commit(_ batches: [[JournalWrite]], quiet: () throws -> Void = {}) throws(JournalError) {
    try access { db in
      do {
        try self.begin(db)
        var statements = JournalStatements(db)
        for batch in batches {
          for write in batch {
            if case .insert(let node, let round, let at, let first, let files) = write,
              files.count > Self.rowsPerTransaction
            {
              for start in stride(from: 0, to: files.count, by: Self.rowsPerTransaction) {
                let end = min(start + Self.rowsPerTransaction, files.count)
                try statements.insert(files, from: start, to: end, node, round, at, first)
                try self.countAndCommit(db)
                try self.checkpoint(db, quiet: quiet)
                try self.begin(db)
              }
            } else {
              try statements.perform(write)
            }
          }
        }
        try self.countAndCommit(db)
      } catch {
        // The first error is the cause. If the rollback fails, SQLite has already rolled back.
        if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
        throw error
      }
    }
  }

  /// Begins a transaction and stores its number. The number is stored first, so that a write by another process is
  /// detected before that process's rows cause a misleading error.
  private func begin(_ db: Database) throws {
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    try count(db)
  }

  /// Commits the current transaction and records the commit.
  private func countAndCommit(_ db: Database) throws {
    try db.cachedStatement(sql: "COMMIT").execute()
    try commits?.recordCommit()
  }

  /// Stores the number of the current transaction in the journal. The previous number must be the last one that this
  /// process stored: otherwise, another process is writing to the journal and would send the same files.
  private func count(_ db: Database) throws {
    guard let commits else { return }
    if let epoch = ownedEpoch {
      try db.cachedStatement(sql: "UPDATE session SET commits = ? WHERE commits = ? AND lease_epoch = ?")
        .execute(arguments: [commits.next, commits.committed, epoch])
    } else {
      try db.cachedStatement(sql: "UPDATE session SET commits = ? WHERE commits = ?")
        .execute(arguments: [commits.next, commits.committed])
    }
    guard db.changesCount == 1 else {
      if let epoch = ownedEpoch, try LeaseRow.read(db, in: path).epoch != epoch {
        throw JournalError.leaseLost(path)
      }
      throw JournalError(
        .otherWriter, file: path,
        cause:
          "another process has written to the journal, although this process holds the session's lock; the lock file was removed "
          + "or replaced")
    }
  }

  /// Runs one immediate transaction and stores its number.
  func commit<Result>(_ db: Database, _ body: (Database) throws -> Result) throws -> Result {
    let result = try db.inImmediateTransaction { db in
      try count(db)
      return try body(db)
    }
    try commits?.recordCommit()
    return result
  }

  /// Commits and syncs writes while no run writes to the journal.
  func commitAndSync(_ writes: [JournalWrite]) throws(JournalError) {
    do {
      try commit([writes])
      try sync()
    } catch {
      // The log is in an unknown state and must not be checkpointed into the file, as after a lost write in a run.
      abandon()
      throw error
    }
  }

  /// Syncs all commits so far with one fdatasync of the log. While a `JournalWriter` uses the journal, its
  /// `LogSyncer` performs this task instead.
  ///
  /// The sync uses SQLite's own file (SQLITE_FCNTL_JOURNAL_POINTER), like a commit under `synchronous=FULL`. The
  /// kernel reports a failed write-back to the descriptor that wrote the data, and SQLite also syncs the name of a
  /// new log in its folder. If the log has been restarted since the last sync, the checkpoint before the restart
  /// has copied the earlier frames to the database file and synced it.
  func sync() throws(JournalError) {
    guard isDurable else { return }
    let covered = commits?.committed
    // Without a log, each transaction is already on disk.
    if !isShared { try syncLog() }
    if let commits, let covered { try commits.recordSync(through: covered) }
  }

  private func syncLog() throws(JournalError) {
    try access { db in
      var log: UnsafeMutablePointer<sqlite3_file>?
      let found = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
      guard found == SQLITE_OK, let log, let methods = log.pointee.pMethods, let sync = methods.pointee.xSync
      else {
        throw DatabaseError(resultCode: .SQLITE_IOERR_FSYNC, message: "the log is not open")
      }
      let code = sync(log, SQLITE_SYNC_NORMAL)
      guard code == SQLITE_OK else {
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "syncing the log failed")
      }
    }
  }

  /// Checkpoints the log into the file if it is long enough. Returns whether it was checkpointed.
  @discardableResult
  func checkpointIfDue() throws(JournalError) -> Bool {
    guard isDurable, !isShared else { return false }
    return try access { try self.checkpoint($0) }
  }

  /// A PASSIVE checkpoint does not wait for readers. Under `synchronous=NORMAL`, SQLite syncs the log before
  /// it writes to the file, and the file before the log may be reused from its start. Therefore, commits
  /// that ferry has not synced yet are also on disk afterwards, in the log or in the file.
  @discardableResult
  private func checkpoint(_ db: Database, quiet: () throws -> Void = {}) throws -> Bool {
    guard isDurable, !isShared else { return false }
    var pages: Int32 = 0
    var peak: Int32 = 0
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 0)
    guard pages >= Self.checkpointPages else { return false }
    try quiet()
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 1)
    let code = sqlite3_wal_checkpoint_v2(db.sqliteConnection, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    // If another process is running a checkpoint, the next checkpoint copies the remaining pages.
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw db.failure(code) }
    return true
  }
}
