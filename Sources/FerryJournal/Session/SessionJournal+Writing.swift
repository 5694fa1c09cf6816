import FerryPlan
import GRDB
import GRDBSQLite

extension SessionJournal {
  /// Rows of one insert that go into one transaction: a million at once would make the log as long.
  static let rowsPerTransaction = 20_000
  /// Pages written to the log after which it is moved into the file: 4 MiB.
  static let checkpointPages: Int32 = 1024

  /// Commits the writes, in order: safe from the end of the process, not yet from a power cut.
  ///
  /// One transaction, and more of them only around an insert of many rows; a reader of half an insert
  /// sees items that are queued and misses others, which the next listing finds.
  ///
  /// - Parameter quiet: returns once nobody else syncs the log, for a checkpoint between two transactions.
  func commit(_ batches: [[JournalWrite]], quiet: () throws -> Void = {}) throws(JournalError) {
    try access { db in
      do {
        try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
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
                try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
              }
            } else {
              try statements.perform(write)
            }
          }
        }
        try self.countAndCommit(db)
      } catch {
        // The first error is the cause; SQLite has rolled back by itself where this one fails.
        if db.isInsideTransaction { try? db.execute(sql: "ROLLBACK") }
        throw error
      }
    }
  }

  /// Ends the transaction that is under way, and records its number.
  private func countAndCommit(_ db: Database) throws {
    try count(db)
    try db.cachedStatement(sql: "COMMIT").execute()
    try commits?.recordCommit()
  }

  /// Gives the transaction that is under way its number.
  private func count(_ db: Database) throws {
    guard let commits else { return }
    try db.cachedStatement(sql: "UPDATE session SET commits = ?").execute(arguments: [commits.next])
  }

  /// One immediate transaction, with its number.
  func commit<Result>(_ db: Database, _ body: (Database) throws -> Result) throws -> Result {
    let result = try db.inImmediateTransaction { db in
      let result = try body(db)
      try count(db)
      return result
    }
    try commits?.recordCommit()
    return result
  }

  /// Commits and syncs writes while no `JournalWriter` has the journal.
  func commitAndSync(_ writes: [JournalWrite]) throws(JournalError) {
    do {
      try commit([writes])
      try sync()
    } catch {
      // As after a lost write of a run: a log of unknown state is not moved into the file.
      abandon()
      throw error
    }
  }

  /// Brings every commit so far to the disk: one fdatasync of the log. While a `JournalWriter` has the journal, its
  /// `LogSyncer` does so, beside this connection.
  ///
  /// It goes through SQLite's own file (SQLITE_FCNTL_JOURNAL_POINTER), which is what a commit under
  /// `synchronous=FULL` does at its end: the descriptor that wrote is the one that learns of a failed
  /// write-back, and a new log's name is synced in its folder too. A log that was restarted since had its
  /// frames synced in the database file by the checkpoint before.
  func sync() throws(JournalError) {
    guard isDurable else { return }
    let covered = commits?.committed
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
    if let commits, let covered { try commits.recordSync(through: covered) }
  }

  /// Moves the log into the file once it is long enough; returns whether it did.
  @discardableResult
  func checkpointIfDue() throws(JournalError) -> Bool {
    guard isDurable else { return false }
    return try access { try self.checkpoint($0) }
  }

  /// PASSIVE: waits for no reader. Under `synchronous=NORMAL` SQLite syncs the log before it writes to the
  /// file, and the file before the log may be used again from its start: also what no sync of ours has covered yet is
  /// then on the disk, in one or the other.
  @discardableResult
  private func checkpoint(_ db: Database, quiet: () throws -> Void = {}) throws -> Bool {
    guard isDurable else { return false }
    var pages: Int32 = 0
    var peak: Int32 = 0
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 0)
    guard pages >= Self.checkpointPages else { return false }
    try quiet()
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &peak, 1)
    let code = sqlite3_wal_checkpoint_v2(db.sqliteConnection, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    // Another process checkpoints; what is left is for the next time.
    guard code == SQLITE_OK || code == SQLITE_BUSY else { throw db.failure(code) }
    return true
  }
}
