import Foundation
import GRDB

extension JournalError {
  /// A failed system call's meaning.
  init(errno code: Int32, doing what: String, file: String) {
    let cause = "\(what): \(String(cString: strerror(code)))"
    switch code {
    case ENOSPC, EDQUOT, EFBIG: self.init(.diskFull, file: file, cause: cause)
    case EROFS: self.init(.readOnly, file: file, cause: cause)
    case EACCES, EPERM: self.init(what == "read" ? .unreadable : .readOnly, file: file, cause: cause)
    case ENOLCK, EOPNOTSUPP, ENOSYS: self.init(.locksUnsupported, file: file, cause: cause)
    default: self.init(.io, file: file, cause: cause)
    }
  }

  /// Any error from the database, with SQLite's words and codes kept in the cause.
  init(_ error: any Error, file: String) {
    if let known = error as? JournalError {
      self = known
      return
    }
    guard let error = error as? DatabaseError else {
      self.init(.io, file: file, cause: String(describing: error))
      return
    }
    let name = "SQLite \(error.extendedResultCode.rawValue)"
    self.init(Code(error), file: file, cause: "\(error.message ?? "no message") (\(name))")
  }
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
