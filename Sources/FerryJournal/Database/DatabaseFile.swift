import FerryPlan
import Foundation
import GRDB
import Synchronization

/// One SQLite file of ours: how it is opened, judged and brought up to date.
struct DatabaseFile: Sendable {
  let path: String
  let schema: DatabaseSchema

  /// When a transaction that is written without our asking is on the disk.
  enum Durability: Sendable {
    /// With each commit.
    case everyCommit
    /// When the log is moved into the file, or another connection syncs it. SQLite moves it, every 1,000
    /// pages.
    case eventually
    /// When `SessionJournal` syncs the log, and before each checkpoint, which is its own too.
    case onRequest

    /// https://www.sqlite.org/pragma.html#pragma_synchronous
    fileprivate var synchronous: String {
      switch self {
      case .everyCommit: "FULL"
      case .eventually, .onRequest: "NORMAL"
      }
    }
  }

  /// How long another process's short write is waited for.
  static let patience: Double = 20
  /// The log is cut back to this after it had to grow beyond it.
  static let logLimit = 16 << 20

  /// Opens the file for writing, creating it 0600, and migrates it. Refuses, without a change, a file
  /// that is another program's, another user's, damaged, or of a newer schema.
  ///
  /// The caller keeps other processes from doing the same at the same time.
  ///
  /// - Parameter check: looks at the content before anything is written; what it throws refuses the file.
  func openForWriting(
    durability: Durability, writtenBy ferry: String, at now: Instant,
    check: (Database, DatabaseSchema.Verdict) throws -> Void = { _, _ in }
  ) throws(JournalError) -> DatabaseQueue {
    try createOrClaim()
    // Not again while this process has the file open, for the same POSIX locks.
    if !Self.opened.withLock({ $0.contains(path) }) { try checkHeader() }
    var configuration = Configuration()
    configuration.label = "ferry"
    configuration.busyMode = .timeout(Self.patience)
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
        // Before its content is looked at: pages whose cells do not fit are then refused.
        try db.execute(sql: "PRAGMA cell_size_check = ON")
        try check(db, schema.judge(db, file: path))
        try configure(db, durability: durability)
      }
      try schema.migrator(writtenBy: ferry, at: now).migrate(queue)
      return queue
    } catch {
      // Closing the last connection would move the log into the file; what is refused stays as it is.
      Self.abandon(queue)
      throw JournalError(error, file: path, on: queue)
    }
  }

  /// The same tables in memory, for what is kept by no one.
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

  /// Keeps a connection open until the process ends, so that SQLite's checkpoint at close never runs:
  /// after a failed write or sync the log must not be copied into the database.
  static func abandon(_ queue: DatabaseQueue) {
    abandoned.withLock { $0.append(queue) }
  }

  private static let abandoned = Mutex<[DatabaseQueue]>([])
  /// The files that this process has opened for writing.
  private static let opened = Mutex<Set<String>>([])

  private func configure(_ db: Database, durability: Durability) throws {
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
      // Checkpoints are ours (SessionJournal+Writing): SQLite's own would come in a commit's way.
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192")
    }
  }

  /// SQLite gives the log and the shared memory the mode of the database file.
  ///
  /// An existing file is not opened here: closing any descriptor of it would drop this process's
  /// POSIX locks on it (https://www.sqlite.org/howtocorrupt.html §2.2).
  private func createOrClaim() throws(JournalError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      defer { close(descriptor) }
      guard fchmod(descriptor, 0o600) == 0 else {
        throw JournalError(errno: errno, doing: "chmod", file: path)
      }
      return
    }
    guard errno == EEXIST else { throw JournalError(errno: errno, doing: "create", file: path) }
    var status = stat()
    guard stat(path, &status) == 0 else { throw JournalError(errno: errno, doing: "stat", file: path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw JournalError(.foreign, file: path, cause: "it is no regular file")
    }
    guard status.st_uid == geteuid() else {
      throw JournalError(
        .wrongOwner, file: path, cause: "its owner is user \(status.st_uid), this is user \(geteuid())")
    }
    // A read-only file is the user's word and stays so; one that others may read is closed to them.
    guard status.st_mode & 0o077 != 0 else { return }
    for suffix in ["", "-wal", "-shm"] {
      guard chmod(path + suffix, status.st_mode & 0o700) == 0 || errno == ENOENT else {
        throw JournalError(errno: errno, doing: "chmod", file: path + suffix)
      }
    }
  }

  /// Judges the first 100 bytes (https://www.sqlite.org/fileformat.html#the_database_header) before
  /// SQLite sees the file, so that what is refused here is certainly untouched.
  func checkHeader() throws(JournalError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw JournalError(errno: errno, doing: "read", file: path) }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = pread(descriptor, &header, header.count, 0)
    guard count >= 0 else { throw JournalError(errno: errno, doing: "read", file: path) }
    if count == 0 { return }
    guard count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw JournalError(.foreign, file: path, cause: "it does not begin as an SQLite database")
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
        .newerSchema, file: path, cause: "its schema is \(version), this ferry knows \(schema.version)")
    }
  }
}
