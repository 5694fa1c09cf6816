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
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    var names = Array(
      SplitPath.names(of: isAbsolute ? path : FileManager.default.currentDirectoryPath + "/" + path)
        .reversed())
    /// A path without links.
    var folder = "/"
    var links = 0
    while let name = names.popLast() {
      switch name {
      case ".": continue
      case "..":
        let above = SplitPath(folder).folder
        folder = above.isEmpty ? "/" : above
        continue
      default: break
      }
      let next = (folder == "/" ? "" : folder) + "/" + name
      guard try check(next, in: folder) == .link else {
        folder = next
        continue
      }
      links += 1
      // If links form a cycle, the code that opens the folder reports the error.
      guard links <= linkLimit else { return }
      let target = try self.target(ofLink: next)
      if target.utf8.first == UInt8(ascii: "/") { folder = "/" }
      names += SplitPath.names(of: target).reversed()
    }
  }

  private static func target(ofLink path: String) throws(JournalError) -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &bytes, bytes.count)
    guard count > 0, count < bytes.count,
      let target = String(validating: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    else { throw refused(path, "it is a symbolic link whose target cannot be read, or is not UTF-8") }
    return target
  }

  /// The link limit of Linux (path_resolution(7)).
  private static let linkLimit = 40

  private enum Entry { case link, other }

  /// Checks that no other user has created, or can replace, an entry of a folder.
  private static func check(_ entry: String, in folder: String) throws(JournalError) -> Entry {
    var above = stat()
    var status = stat()
    let exists = lstat(entry, &status) == 0
    let isLink = exists && status.st_mode & S_IFMT == S_IFLNK
    guard stat(folder, &above) == 0, above.st_mode & 0o002 != 0 else { return isLink ? .link : .other }
    guard above.st_mode & UInt32(S_ISVTX) != 0 else {
      throw refused(
        folder, "its mode is \(text(above.st_mode)), so any user can replace its contents")
    }
    if exists, status.st_uid != geteuid(), status.st_uid != above.st_uid {
      throw refused(
        entry,
        "it \(isLink ? "is a symbolic link of" : "belongs to") user \(status.st_uid), in a world-writable folder"
      )
    }
    return isLink ? .link : .other
  }

  private static func refused(_ path: String, _ cause: String) -> JournalError {
    JournalError(.unsafeFolder, file: path, cause: cause)
  }

  private static func text(_ mode: mode_t) -> String { "0" + String(mode & 0o7777, radix: 8) }
}
