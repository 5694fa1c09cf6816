import FerryPlan
import Foundation
import GRDB
import Synchronization

/// Opens, checks and migrates one of ferry's SQLite files.
struct DatabaseFile: Sendable {
  let path: String
  let schema: DatabaseSchema
  /// Whether processes on several machines may use the file, as in the state folder of a shard.
  ///
  /// In that case, write-ahead logging must not be used: its index is in shared memory, which a network file
  /// system does not provide (https://www.sqlite.org/wal.html), and two machines would overwrite each other's
  /// pages. Such a file has a rollback journal, which needs only the file system's locks. The rollback journal is
  /// truncated and synced at the end of each transaction (`synchronous=FULL`), so every transaction is on disk
  /// when it has been committed.
  var isShared = false

  /// Determines when a transaction reaches the disk without an explicit sync.
  enum Durability: Sendable {
    /// The log is synced at each commit.
    case everyCommit
    /// The log is synced when it is checkpointed into the file, or when another connection syncs it. SQLite
    /// runs a checkpoint every 1,000 pages.
    case eventually
    /// The log is synced when the session's journal requests it, and before each checkpoint, which the
    /// journal also runs.
    case onRequest

    /// https://www.sqlite.org/pragma.html#pragma_synchronous
    fileprivate var synchronous: String {
      switch self {
      case .everyCommit: "FULL"
      case .eventually, .onRequest: "NORMAL"
      }
    }
  }

  /// The maximum wait for another process's short write, in seconds.
  static let patience: Double = 20
  /// For the file of a shard: the maximum wait for another process's short write, in seconds. If that process
  /// keeps the file locked for longer, the engine restarts the shard.
  static let sharedPatience: Double = 5
  /// The size in bytes to which a larger log is truncated.
  static let logLimit = 16 << 20

  /// Opens the file for writing, creates it with mode 0600 if it is missing, and migrates it. A file that
  /// belongs to another program or user, is damaged, or has a newer schema is rejected and not changed.
  ///
  /// Unless the file is shared, the caller must prevent other processes from migrating it at the same time.
  ///
  /// - Parameter check: checks the content before anything is written. If it throws, the file is rejected.
  func openForWriting(
    durability: Durability, writtenBy ferry: String, at now: Instant,
    check: (Database, DatabaseSchema.Verdict) throws -> Void = { _, _ in }
  ) throws(JournalError) -> DatabaseQueue {
    try createOrClaim()
    // Skipped while this process has the file open, because reading it would drop the POSIX locks (see
    // `createOrClaim`).
    if !Self.opened.withLock({ $0.contains(path) }) { try checkHeader() }
    var configuration = Configuration()
    configuration.label = "ferry"
    configuration.busyMode = .timeout(isShared ? Self.sharedPatience : Self.patience)
    configuration.foreignKeysEnabled = durability != .onRequest
    let queue: DatabaseQueue
    do {
      queue = try DatabaseQueue(path: path, configuration: configuration)
    } catch {
      throw JournalError(error, file: path)
    }
    _ = Self.opened.withLock { $0.insert(path) }
    do {
      try queue.writeWithoutTransaction { db in
        // Set before the content is checked, so that pages with misplaced cells are rejected.
        try db.execute(sql: "PRAGMA cell_size_check = ON")
        // In one transaction, because another process may be creating the tables of a shared file.
        try db.inTransaction(.deferred) {
          try check(db, schema.judge(db, file: path))
          return .commit
        }
        try configure(db, durability: durability)
      }
      try migrate(queue, writtenBy: ferry, at: now)
      return queue
    } catch {
      // Closing the last connection would checkpoint the log into the file, but a rejected file must not be
      // changed.
      DatabaseCloser.abandon(queue)
      throw JournalError(error, file: path, on: queue)
    }
  }

  /// Migrates the file.
  ///
  /// Several processes may start the same shard, and no lock between machines prevents them from creating its journal at
  /// the same time. Each step is one transaction. If another process has completed it first, this process's step fails
  /// without an effect, and the migration continues after it.
  private func migrate(_ queue: DatabaseQueue, writtenBy ferry: String, at now: Instant) throws {
    let migrator = schema.migrator(writtenBy: ferry, at: now)
    var completed = try version(queue)
    while true {
      do {
        return try migrator.migrate(queue)
      } catch {
        let found = try version(queue)
        guard isShared, found > completed else { throw error }
        completed = found
      }
    }
  }

  /// The number of completed migrations. Unlike GRDB's table of them, it can be read while another process creates the
  /// tables.
  private func version(_ queue: DatabaseQueue) throws -> Int {
    try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
  }

  /// A database in memory with the tables of the schema, for data that is not stored.
  static func inMemory(
    _ schema: DatabaseSchema, writtenBy ferry: String = "", at now: Instant = Instant(nanoseconds: 0)
  ) throws(JournalError) -> DatabaseQueue {
    do {
      let queue = try DatabaseQueue()
      try schema.migrator(writtenBy: ferry, at: now).migrate(queue)
      return queue
    } catch {
      throw JournalError(error, file: ":memory:")
    }
  }

  /// The files that this process has opened for writing.
  private static let opened = Mutex<Set<String>>([])

  /// Opens another connection to a file that this process has open for writing.
  func openAnother() throws(JournalError) -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "ferry"
    configuration.busyMode = .timeout(isShared ? Self.sharedPatience : Self.patience)
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      return queue
    } catch {
      throw JournalError(error, file: path)
    }
  }

  private func configure(_ db: Database, durability: Durability) throws {
    if isShared {
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = TRUNCATE") == "truncate" else {
        throw JournalError(.locksUnsupported, file: path, cause: "a rollback journal is not possible here")
      }
      return try db.execute(
        sql: """
          PRAGMA synchronous = FULL;
          PRAGMA secure_delete = ON;
          PRAGMA trusted_schema = OFF;
          PRAGMA cache_size = -8192;
          """)
    }
    guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
      throw JournalError(.locksUnsupported, file: path, cause: "write-ahead logging is not possible here")
    }
    try db.execute(
      sql: """
        PRAGMA synchronous = \(durability.synchronous);
        PRAGMA journal_size_limit = \(Self.logLimit);
        PRAGMA secure_delete = ON;
        PRAGMA trusted_schema = OFF;
        """)
    if durability == .onRequest {
      // The session's journal runs the checkpoints. SQLite's automatic checkpoints would delay commits.
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192")
    }
  }

  /// The paths of all files that SQLite opens for a database. They need not exist.
  static func files(of path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

  /// Creates the file, or restricts access to an existing one to this user. SQLite gives the log and the
  /// shared memory the mode of the database file.
  ///
  /// An existing file is not opened here: closing any descriptor of it would drop this process's POSIX locks
  /// on it (https://www.sqlite.org/howtocorrupt.html §2.2).
  private func createOrClaim() throws(JournalError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 {
      defer { close(descriptor) }
      guard fchmod(descriptor, 0o600) == 0 else {
        throw JournalError(errno: errno, doing: "chmod", file: path)
      }
      return
    }
    guard errno == EEXIST else { throw JournalError(errno: errno, doing: "create", file: path) }
    for file in Self.files(of: path) { try StateFile.check(file, isWritten: true) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw JournalError(errno: errno, doing: "stat", file: path) }
    // A file that is read-only for its owner stays read-only. Access by other users is removed.
    guard status.st_mode & 0o077 != 0 else { return }
    for suffix in ["", "-wal", "-shm"] {
      guard chmod(path + suffix, status.st_mode & 0o700) == 0 || errno == ENOENT else {
        throw JournalError(errno: errno, doing: "chmod", file: path + suffix)
      }
    }
  }

  /// Checks the first 100 bytes (https://www.sqlite.org/fileformat.html#the_database_header) before SQLite
  /// opens the file. A file that is rejected here is not changed.
  func checkHeader() throws(JournalError) {
    let descriptor = try StateFile.open(path, O_RDONLY, doing: "read")
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = pread(descriptor, &header, header.count, 0)
    guard count >= 0 else { throw JournalError(errno: errno, doing: "read", file: path) }
    if count == 0 { return }
    // After a power failure in the first transaction, the first page may be missing. SQLite rolls such a file back when it
    // opens it, and its content is checked after that.
    if header.allSatisfy({ $0 == 0 }), try hasRollbackJournal() { return }
    guard count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw JournalError(
        .foreign, file: path, cause: "it does not start with the header of an SQLite database")
    }
    func number(at offset: Int) -> Int32 {
      header[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }
    let version = number(at: 60)
    let application = number(at: 68)
    guard application == schema.applicationID || (application == 0 && version == 0) else {
      throw JournalError(.foreign, file: path, cause: "its application id is \(application)")
    }
    guard version <= schema.version else {
      throw JournalError(
        .newerSchema, file: path,
        cause: "its schema version is \(version), but this ferry supports versions up to \(schema.version)")
    }
  }

  /// Whether a rollback journal is next to the file (https://www.sqlite.org/fileformat.html#the_rollback_journal).
  private func hasRollbackJournal() throws(JournalError) -> Bool {
    guard access(path + "-journal", F_OK) == 0 else { return false }
    let descriptor = try StateFile.open(path + "-journal", O_RDONLY, doing: "read")
    defer { close(descriptor) }
    var magic: UInt64 = 0
    return pread(descriptor, &magic, 8, 0) == 8 && UInt64(bigEndian: magic) == 0xd9d5_05f9_20a1_63d7
  }
}
