import FerryPlan
import Foundation

/// A journal's log (its `-wal` file), opened through a separate descriptor so that it can be synced while
/// SQLite writes to it.
///
/// The descriptor is opened before the first write that it must cover, because the kernel reports a failed
/// write-back once to each descriptor that was open
/// (https://www.kernel.org/doc/html/latest/filesystems/vfs.html#handling-errors-during-writeback). Closing
/// it does not drop locks: in WAL mode, SQLite locks the database file and `-shm`
/// (https://www.sqlite.org/walformat.html §2.3). The log remains the same file while SQLite has the journal
/// open: a checkpoint restarts or truncates it in place, and only the last connection removes it.
///
/// `@unchecked Sendable`: only the sync thread accesses `isNamed`.
final class LogFile: @unchecked Sendable {
  /// The path of the journal's database file.
  private let journal: String
  /// -1 if the journal has no log.
  private let descriptor: Int32
  private let commits: CommitRecord?
  /// Whether the log's name has also been synced.
  private var isNamed = false

  /// Opens the log of a journal that SQLite has open.
  ///
  /// - Parameters:
  ///   - commits: records the transactions that each sync covers.
  ///   - exists: whether the journal has a log. Otherwise, each transaction is on disk once it is committed.
  init(journal: String, commits: CommitRecord?, exists: Bool = true) throws(JournalError) {
    self.journal = journal
    self.commits = commits
    descriptor = !exists ? -1 : try StateFile.open(journal + "-wal", O_RDWR, doing: "open the log")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns when all previous writes are on disk.
  func sync(_ call: JournalWriter.SyncCall) throws(JournalError) {
    let covered = commits?.committed
    guard descriptor < 0 || call(descriptor) == 0 else {
      throw JournalError(errno: errno, doing: "sync the log", file: journal)
    }
    if !isNamed {
      // SQLite also syncs the folder when it syncs a newly created log, but does not report the result.
      try StateDirectory.syncFolder(SplitPath(journal).folder)
      isNamed = true
    }
    if let commits, let covered { try commits.recordSync(through: covered) }
  }

  /// fdatasync(2), which also syncs the file's length. On macOS, the length is not always synced, so fsync(2) is
  /// used there, as in SQLite.
  static let systemCall: JournalWriter.SyncCall = { descriptor in
    #if os(Linux)
    fdatasync(descriptor)
    #else
    fsync(descriptor)
    #endif
  }
}
