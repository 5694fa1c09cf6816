import Foundation
import GRDB
import GRDBSQLite

extension JournalError {
  /// Maps a failed system call to a journal error.
  init(errno code: Int32, doing what: String, file: String) {
    let cause = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case let code where Self.isFull(code): self.init(.diskFull, file: file, cause: cause)
    case EROFS: self.init(.readOnly, file: file, cause: cause)
    case EACCES, EPERM: self.init(what == "read" ? .unreadable : .readOnly, file: file, cause: cause)
    case ENOLCK, EOPNOTSUPP, ENOSYS: self.init(.locksUnsupported, file: file, cause: cause)
    default: self.init(.io, file: file, cause: cause)
    }
  }

  /// Maps any error from the database. The cause contains SQLite's message and codes.
  init(_ error: any Error, file: String) {
    if let known = error as? JournalError {
      self = known
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(error is RowDecodingError ? .damaged : .io, file: file, cause: String(describing: error))
      return
    }
    let name = "SQLite \(error.extendedResultCode.rawValue)"
    self.init(Code(error), file: file, cause: "\(error.message ?? "no message") (\(name))")
  }

  /// Like `init(_:file:)`, but includes the error that the system reported to SQLite. SQLite has a code for
  /// a full disk, but not for an exceeded quota or file size limit (RLIMIT_FSIZE).
  init(_ error: any Error, file: String, on queue: DatabaseQueue) {
    self.init(error, file: file)
    guard let error = error as? DatabaseError, error.resultCode == .SQLITE_IOERR else { return }
    let codes = queue.writeWithoutTransaction { Self.systemErrors($0.sqliteConnection) }
    guard let code = codes.first(where: Self.isFull) else { return }
    self.code = .diskFull
    cause += ": \(String(cString: strerror(code)))"
  }

  /// The last system errors of the database and of its log after an I/O failure.
  private static func systemErrors(_ connection: OpaquePointer?) -> [Int32] {
    var ofFile: Int32 = 0
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &ofFile)
    var ofLog: Int32 = 0
    var log: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    if let log, let methods = log.pointee.pMethods, let control = methods.pointee.xFileControl {
      _ = control(log, SQLITE_FCNTL_LAST_ERRNO, &ofLog)
    }
    return [ofFile, ofLog, sqlite3_system_errno(connection)]
  }

  private static func isFull(_ code: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}

extension JournalError.Code {
  /// SQLite's result codes: https://www.sqlite.org/rescode.html
  init(_ error: DatabaseError) {
    switch error.extendedResultCode {
    case .SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMLOCK, .SQLITE_IOERR_SHMMAP,
      .SQLITE_IOERR_LOCK, .SQLITE_IOERR_RDLOCK:
      self = .locksUnsupported
      return
    default: break
    }
    switch error.resultCode {
    case .SQLITE_FULL: self = .diskFull
    case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
    case .SQLITE_CANTOPEN: self = .unreadable
    case .SQLITE_CORRUPT: self = .damaged
    case .SQLITE_NOTADB: self = .foreign
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
    case .SQLITE_PROTOCOL, .SQLITE_NOLFS: self = .locksUnsupported
    case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: self = .inconsistent
    default: self = .io
    }
  }
}
