import FerryPlan
import Foundation
import GRDB
import GRDBSQLite

/// A ferry file that is opened read-only. Files in its folder are neither changed nor created, and are locked
/// only briefly.
///
/// A read-only connection to a database in WAL mode still creates or rebuilds `-shm` and may need `-wal`
/// (https://www.sqlite.org/wal.html#readonly). Therefore, the files next to the database determine how it is
/// opened:
///
/// | files next to it | opened as |
/// |---|---|
/// | no log, or one without changes | `immutable=1`: only the file is read |
/// | a log and `-shm`: a process is running or was killed | `readonly_shm=1`: SQLite keeps its index in memory |
/// | the file of a shard, without a log | read with the file system's locks: another machine may be writing to it |
/// | a log alone or in another format, or a rollback journal | a private copy elsewhere |
///
/// A snapshot must not be opened for a file that this process has open for writing: copying the file would
/// drop SQLite's POSIX locks.
final class DatabaseSnapshot: Sendable {
  let queue: DatabaseQueue
  private let closer: DatabaseCloser
  /// The folder of the private copy.
  private let scratch: String?

  private init(queue: DatabaseQueue, closer: DatabaseCloser, scratch: String?) {
    self.queue = queue
    self.closer = closer
    self.scratch = scratch
  }

  deinit {
    // The connection was only read, so a failed close cannot lose data. If the copy cannot be removed, it
    // remains private.
    try? queue.close()
    if let scratch { try? FileManager.default.removeItem(atPath: scratch) }
  }

  /// Returns `nil` if the file is missing or empty.
  static func open(_ file: DatabaseFile) throws(JournalError) -> DatabaseSnapshot? {
    for attempt in 1... {
      do {
        guard size(file.path) ?? 0 > 0 else {
          try checkAccess(file.path)
          return nil
        }
        for path in DatabaseFile.files(of: file.path) { try StateFile.check(path, isWritten: false) }
        try file.checkHeader()
        return try open(file, as: Route(file.path))
      } catch {
        // If another process opens, checkpoints or closes the database at this moment, a different row of the table
        // above applies.
        let passing = [.busy, .damaged, .io, .readOnly, .unreadable].contains(error.code)
        if attempt >= 3 || !passing { throw error }
      }
    }
    return nil
  }

  fileprivate enum Route { case immutable, sharedLog, locked, copy }

  private static func open(_ file: DatabaseFile, as route: Route) throws(JournalError) -> DatabaseSnapshot? {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(DatabaseFile.patience)
    var scratch: String?
    do {
      let path: String
      switch route {
      case .immutable: path = uri(file.path, "mode=ro&immutable=1")
      case .sharedLog: path = uri(file.path, "mode=ro&readonly_shm=1")
      case .locked: path = uri(file.path, "mode=ro")
      case .copy:
        let folder = try copy(file.path)
        scratch = folder
        path = folder + "/copy.db"
        configuration.readonly = false
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      let closer = DatabaseCloser(queue)
      let verdict = try queue.read { try file.schema.judge($0, file: file.path) }
      switch verdict {
      case .new:
        if let scratch { try? FileManager.default.removeItem(atPath: scratch) }
        return nil
      case .version(let version) where version < file.schema.version && route != .copy:
        // An older format is read from a copy that is migrated.
        return try open(file, as: .copy)
      case .version(let version) where version < file.schema.version:
        try file.schema.migrator().migrate(queue)
      case .version: break
      }
      return DatabaseSnapshot(queue: queue, closer: closer, scratch: scratch)
    } catch {
      // The original error is more useful than an error from removing a private copy.
      if let scratch { try? FileManager.default.removeItem(atPath: scratch) }
      throw JournalError(error, file: file.path)
    }
  }

  private static func copy(_ path: String) throws(JournalError) -> String {
    // SQLite ignores a log that does not begin with a log header.
    let suffixes = ["", "-wal", "-journal"].filter { suffix in
      size(path + suffix) != nil && (suffix != "-wal" || isLog(path + suffix))
    }
    // The copy of a sparse file occupies its full size.
    guard suffixes.compactMap({ size(path + $0) }).reduce(0, +) <= freeSpace(in: NSTemporaryDirectory())
    else {
      throw JournalError(errno: ENOSPC, doing: "copy \(path) for reading", file: NSTemporaryDirectory())
    }
    var template = Array((NSTemporaryDirectory() + "/ferry-read-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw JournalError(errno: errno, doing: "copy", file: NSTemporaryDirectory())
    }
    let folder = String(cString: made)
    do {
      for suffix in suffixes {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: folder + "/copy.db" + suffix)
        chmod(folder + "/copy.db" + suffix, 0o600)
      }
    } catch {
      // Only this user can access the folder, so a partial copy that remains in it stays private.
      try? FileManager.default.removeItem(atPath: folder)
      throw JournalError(.io, file: path, cause: "copy it for reading: \(error)")
    }
    return folder
  }

  /// The free space in bytes; `Int64.max` if unknown.
  private static func freeSpace(in folder: String) -> Int64 {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return .max }
    let (bytes, isTooLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooLarge ? .max : Int64(clamping: bytes)
  }

  private static func uri(_ path: String, _ parameters: String) -> String {
    var plain = CharacterSet(charactersIn: "/-._~")
    plain.formUnion(
      CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
    // Percent-encoding never fails. If it did, the file would merely not be found.
    return "file:" + (path.addingPercentEncoding(withAllowedCharacters: plain) ?? path) + "?" + parameters
  }

  /// The size in bytes of the header before a log's first frame
  /// (https://www.sqlite.org/fileformat.html#the_write_ahead_log).
  fileprivate static let logHeader = 32

  /// Whether the file begins with a log header. After a power failure, the header may be missing; SQLite then
  /// ignores the log.
  fileprivate static func isLog(_ path: String) -> Bool {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var magic: UInt32 = 0
    guard pread(descriptor, &magic, 4, 0) == 4 else { return false }
    return [0x377f_0682, 0x377f_0683].contains(UInt32(bigEndian: magic))
  }

  /// Whether the file's header states that it has a rollback journal, not a log
  /// (https://www.sqlite.org/fileformat.html#the_database_header, offset 18).
  fileprivate static func hasRollbackJournal(_ path: String) -> Bool {
    let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var version: UInt8 = 0
    return pread(descriptor, &version, 1, 18) == 1 && version == 1
  }

  /// Whether a file with a rollback journal can be read without rolling back a transaction.
  fileprivate static func isReadable(_ path: String) -> Bool {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(DatabaseFile.patience)
    guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return false }
    let closer = DatabaseCloser(queue)
    defer { withExtendedLifetime(closer) {} }
    return (try? queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }) != nil
  }

  fileprivate static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Distinguishes a missing file from a file that this user must not read.
  private static func checkAccess(_ path: String) throws(JournalError) {
    var status = stat()
    guard stat(path, &status) != 0, errno != ENOENT else { return }
    throw JournalError(errno: errno, doing: "read", file: path)
  }
}

extension DatabaseSnapshot.Route {
  fileprivate init(_ path: String) {
    let log = DatabaseSnapshot.size(path + "-wal") ?? 0
    let rollback = DatabaseSnapshot.size(path + "-journal") ?? 0
    // GRDB opens without SQLITE_OPEN_URI, so URIs work only if SQLite was built with support for them
    // (Debian, Apple).
    if DatabaseSnapshot.hasRollbackJournal(path) {
      // While a transaction is running, its journal has content. After a crash, only a copy can be rolled back.
      self = rollback > 0 && !DatabaseSnapshot.isReadable(path) ? .copy : .locked
    } else if rollback > 0 || sqlite3_compileoption_used("USE_URI") == 0 {
      self = .copy
    } else if log <= DatabaseSnapshot.logHeader {
      // A process that was killed before its first frame leaves only a header. With `readonly_shm`, SQLite
      // would wait for that process to continue writing.
      self = .immutable
    } else if DatabaseSnapshot.size(path + "-shm") != nil, DatabaseSnapshot.isLog(path + "-wal") {
      self = .sharedLog
    } else {
      self = .copy
    }
  }
}
