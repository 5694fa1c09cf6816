import Foundation

/// Opens files of the state folder. Files are never opened through a link, and only regular files of this
/// user are written.
enum StateFile {
  /// Opens a file. A new file is accessible only to this user, regardless of the umask.
  ///
  /// - Parameter what: the operation, for messages, such as "open".
  static func open(_ path: String, _ flags: Int32, doing what: String) throws(JournalError) -> Int32 {
    // O_NONBLOCK: the path may lead to a FIFO, and opening that would block.
    let descriptor = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      guard code != ELOOP else { throw linked(path) }
      throw JournalError(errno: code, doing: what, file: path)
    }
    do throws(JournalError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw JournalError(errno: errno, doing: what, file: path) }
      try judge(status, path, isWritten: flags & O_ACCMODE != O_RDONLY)
      if flags & O_CREAT != 0, status.st_mode & 0o777 != 0o600, fchmod(descriptor, 0o600) != 0 {
        throw JournalError(errno: errno, doing: "chmod", file: path)
      }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Checks a file that SQLite opens by its path. Accepts a missing file.
  ///
  /// The file cannot be replaced between the check and the opening, because only this user can change the
  /// folder (`PrivateFolder`).
  ///
  /// - Parameter isWritten: whether the file is to be written; it must then belong to this user.
  static func check(_ path: String, isWritten: Bool) throws(JournalError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT != S_IFLNK else { throw linked(path) }
    try judge(status, path, isWritten: isWritten)
  }

  private static func judge(_ status: stat, _ path: String, isWritten: Bool) throws(JournalError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw JournalError(.foreign, file: path, cause: "it is not a regular file")
    }
    guard !isWritten || status.st_uid == geteuid() else {
      throw JournalError(
        .wrongOwner, file: path,
        cause: "it belongs to user \(status.st_uid), but ferry runs as user \(geteuid())")
    }
  }

  private static func linked(_ path: String) -> JournalError {
    JournalError(.foreign, file: path, cause: "it is a symbolic link, which ferry does not follow here")
  }
}
