import Foundation

/// A journal's log (its `-wal` file), by a descriptor of our own: it is synced while SQLite writes to it.
///
/// The descriptor is opened before the first write that it answers for, because a failed write-back is told once to
/// each descriptor that was open (https://www.kernel.org/doc/html/latest/filesystems/vfs.html#handling-errors-during-writeback).
/// Closing it drops no lock: in WAL mode SQLite locks the database file and `-shm` (https://www.sqlite.org/walformat.html
/// §2.3). The log stays the same file as long as SQLite has the journal open: a checkpoint starts it over, or cuts it
/// back, in place, and only the last connection removes it.
///
/// `@unchecked Sendable`: `isNamed` is touched by the thread that syncs alone.
final class LogFile: @unchecked Sendable {
  /// The journal's file, for messages.
  private let journal: String
  private let descriptor: Int32
  private let commits: CommitRecord?
  /// Whether the log's name is on the disk too.
  private var isNamed = false

  /// Opens the log of a journal that SQLite has open.
  ///
  /// - Parameter commits: is told what each sync covers.
  init(journal: String, commits: CommitRecord?) throws(JournalError) {
    self.journal = journal
    self.commits = commits
    descriptor = open(journal + "-wal", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw JournalError(errno: errno, doing: "open the log", file: journal) }
  }

  deinit { close(descriptor) }

  /// Returns when all that was written before is on the disk.
  func sync(_ call: JournalWriter.SyncCall) throws(JournalError) {
    let covered = commits?.committed
    guard call(descriptor) == 0 else {
      throw JournalError(errno: errno, doing: "sync the log", file: journal)
    }
    if !isNamed {
      // SQLite does so when it syncs a log that it has begun anew, and does not say whether it could.
      try StateDirectory.syncFolder((journal as NSString).deletingLastPathComponent)
      isNamed = true
    }
    if let commits, let covered { try commits.recordSync(through: covered) }
  }

  /// fdatasync(2), which brings a file's length to the disk too; on macOS it may not, and SQLite uses fsync(2) there.
  static let systemCall: JournalWriter.SyncCall = { descriptor in
    #if os(Linux)
    fdatasync(descriptor)
    #else
    fsync(descriptor)
    #endif
  }
}
