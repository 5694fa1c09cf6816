import FerryPlan
import Foundation

/// Checks that a folder can be changed only by this user.
///
/// If another user can write to a folder, its contents may come from that user: a forged journal, or a link
/// in place of a lock that leads to one of this user's files. ferry therefore rejects such folders.
enum PrivateFolder {
  /// Rejects an existing folder that is a link, belongs to another user, or is writable by others. Accepts a
  /// missing folder.
  ///
  /// - Parameter mayBeLink: whether the folder itself may be a link. If so, its target is checked.
  static func check(_ path: String, mayBeLink: Bool = false) throws(JournalError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFLNK {
      guard mayBeLink else { throw refused(path, "it is a symbolic link") }
      guard stat(path, &status) == 0 else { return }
    }
    // If the path is not a folder, the code that creates the folder reports the error.
    guard status.st_mode & S_IFMT == S_IFDIR else { return }
    guard status.st_uid == geteuid() else {
      throw refused(path, "it belongs to user \(status.st_uid), but ferry runs as user \(geteuid())")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw refused(path, "its mode is \(text(status.st_mode)): other users can write to it")
    }
  }

  /// Rejects a path on which another user could replace a folder: a path below a folder that is world-writable and not
  /// sticky, or a path through a link or folder that another user created in a sticky folder.
  ///
  /// Parent folders that are group-writable or belong to another user are trusted, because this is common
  /// for home directories and mounted volumes.
  static func checkParents(of path: String) throws(JournalError) {
    // The path is checked as written, because the components before a `..` determine its target.
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    try checkPrefixes(of: isAbsolute ? path : FileManager.default.currentDirectoryPath + "/" + path)
    guard let found = realpath(path, nil) else { return }
    defer { free(found) }
    try checkPrefixes(of: String(cString: found))
  }

  private static func checkPrefixes(of path: String) throws(JournalError) {
    var folder = "/"
    for name in SplitPath.names(of: path) {
      var above = stat()
      var status = stat()
      guard stat(folder, &above) == 0 else { return }
      let next = (folder == "/" ? "" : folder) + "/" + name
      if above.st_mode & 0o002 != 0 {
        guard above.st_mode & UInt32(S_ISVTX) != 0 else {
          throw refused(
            folder, "its mode is \(text(above.st_mode)), so any user can replace its contents")
        }
        if lstat(next, &status) == 0, status.st_uid != geteuid(), status.st_uid != above.st_uid {
          let isLink = status.st_mode & S_IFMT == S_IFLNK
          throw refused(
            next,
            "it \(isLink ? "is a symbolic link of" : "belongs to") user \(status.st_uid), "
              + "in a world-writable folder")
        }
      }
      folder = next
    }
  }

  private static func refused(_ path: String, _ cause: String) -> JournalError {
    JournalError(.unsafeFolder, file: path, cause: cause)
  }

  private static func text(_ mode: mode_t) -> String { "0" + String(mode & 0o7777, radix: 8) }
}
