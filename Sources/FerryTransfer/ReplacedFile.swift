import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file whose name a new file is about to take: who may read and write it, and whether it may be replaced at all.
///
/// The new file gets the old one's owner, group, mode and access ACL (acl(5)) before its first byte. What cannot be
/// given, because only root may give files away, makes access narrower and never wider. Other extended attributes and
/// the set-user-ID, set-group-ID and sticky bits are not kept.
package struct ReplacedFile {
  private let path: String
  /// `nil` where no regular file has the name. A link is replaced itself, and what it leads to stays.
  private let status: stat?

  /// - Parameter path: looked at without following a link.
  package init(_ path: String) {
    self.path = path
    var status = stat()
    let isFile = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    // Another user may have put it there since `refusal` looked: nothing of it is kept.
    self.status = isFile && Self.foreignOwner(of: status, at: path) == nil ? status : nil
  }

  /// With which mode open(2) makes the new file: as usual where the name is free, otherwise closed to others until
  /// `restrict` has run.
  package var creationMode: mode_t { status == nil ? 0o666 : 0o600 }

  /// Gives a new file the access of the old one. Nothing where the name is free.
  ///
  /// - Returns: 0, or the number of the error that left it without.
  package func restrict(_ descriptor: CInt) -> CInt {
    guard let status else { return 0 }
    let mode = status.st_mode & 0o777
    var own = stat()
    guard fstat(descriptor, &own) == 0 else { return errno }
    if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
      // Only root gives a file to another user; its owner may give it to a group that the user is in.
      let keepsGroup =
        fchown(descriptor, status.st_uid, status.st_gid) == 0
        || fchown(descriptor, uid_t.max, status.st_gid) == 0
      // The group's bits, and an ACL's entry for the group, would now be another group's.
      guard keepsGroup else { return fchmod(descriptor, mode & 0o707) == 0 ? 0 : errno }
    }
    // Under an ACL the group bits are its mask. As plain bits they would open the file to its whole group.
    guard fchmod(descriptor, mode & 0o707) == 0 else { return errno }
    switch ferry_copy_acl(path, descriptor) {
    case 0: return fchmod(descriptor, mode) == 0 ? 0 : errno
    default: return 0
    }
  }

  /// Why the path must not be used: in a folder that everyone may write to, another user has taken its name, or the name
  /// of a folder above it; or what the system reports of that folder. `nil` where the path may be used.
  ///
  /// As the kernel's fs.protected_symlinks, fs.protected_regular and fs.protected_fifos (proc(5)) have it: what belongs
  /// to this user or to the folder's owner is not suspected.
  package static func refusal(_ path: String) -> String? {
    var entry = stat()
    do throws(FolderPath.Failure) {
      close(try FolderPath.descriptor(of: Array(folder(of: path).utf8), trusting: .ownEntries))
    } catch {
      // Also where the system reports an error: another user may have caused it for this moment alone.
      return error.reason
    }
    guard lstat(path, &entry) == 0, let owner = foreignOwner(of: entry, at: path) else { return nil }
    return "it belongs to user \(owner), in a folder that everyone may write to; "
      + "remove it, or choose a folder that only you can write to"
  }

  /// Where the symbolic link of this name leads; `nil` where there is none, or one that `refusal` is about.
  ///
  /// The owner that is judged is that of the link that is read, also where another user exchanges it meanwhile.
  package static func destination(ofLink path: String) -> String? {
    var before = stat()
    var after = stat()
    guard lstat(path, &before) == 0, before.st_mode & S_IFMT == S_IFLNK,
      foreignOwner(of: before, at: path) == nil
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { readlink(path, $0, characters.count) } ?? 0
      }
    }
    // Nobody but its owner or the folder's can put the same inode back.
    guard count > 0, count < bytes.count, lstat(path, &after) == 0, before.isSameEntry(as: after) else {
      return nil
    }
    // Replaced bytes would name another file.
    return String(validating: bytes[..<count], as: UTF8.self)
  }

  private static func foreignOwner(of entry: stat, at path: String) -> uid_t? {
    var status = stat()
    return stat(folder(of: path), &status) == 0 ? FolderPath.foreignOwner(of: entry, in: status) : nil
  }

  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
  }
}
