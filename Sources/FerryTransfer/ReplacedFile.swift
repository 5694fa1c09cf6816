import CFiles
import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The file that a new file is about to replace. Determines the new file's access rights, and whether the
/// replacement is allowed.
///
/// The new file gets the old file's owner, group, mode and access ACL (acl(5)) before its first byte. Only root may
/// change a file's owner; if the owner or group cannot be set, access is restricted further and never extended. Other
/// extended attributes and the set-user-ID, set-group-ID and sticky bits are not preserved.
///
/// In a world-writable folder, another user may have created the name as a hard link to a file that is less protected than
/// the new one. Linux permits this even if fs.protected_hardlinks is 1, if that user may read and write the file (proc(5)).
package struct ReplacedFile {
  /// How the new file gets its access rights.
  private enum Rights {
    /// There is no regular file with this name. A symbolic link is itself replaced, and its target is kept.
    case ofNewFile
    /// The rights of the old file with this status are preserved.
    case preserved(stat)
    /// Only this user gets access, because another user may have created this name of the old file.
    case userOnly
  }

  private let path: String
  private let rights: Rights

  /// - Parameter path: read without following a link.
  package init(_ path: String) {
    self.path = path
    var status = stat()
    let isFile = lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    let folder = Self.folderStatus(of: path)
    // If another user created the file after `refusal` was checked, its attributes are not preserved.
    if !isFile || FolderPath.foreignOwner(of: status, in: folder) != nil {
      rights = .ofNewFile
    } else {
      rights = FolderPath.mayBeForeignName(of: status, in: folder) ? .userOnly : .preserved(status)
    }
  }

  /// The user to whom the new file is given; `nil` if it keeps its owner.
  var owner: uid_t? {
    switch rights {
    case .preserved(let status): status.st_uid
    case .ofNewFile, .userOnly: nil
    }
  }

  /// The mode for open(2) of the new file: the usual mode if there is no file with this name, otherwise
  /// inaccessible to other users until `restrict` has run.
  package var creationMode: mode_t {
    switch rights {
    case .ofNewFile: 0o666
    case .preserved, .userOnly: 0o600
    }
  }

  /// Gives a new file the access rights of the old one. Has no effect if there is no old file.
  ///
  /// - Returns: 0, or the error number if the rights could not be set.
  package func restrict(_ descriptor: CInt) -> CInt {
    switch rights {
    case .ofNewFile: 0
    case .preserved(let status): copy(status, to: descriptor)
    case .userOnly: fchmod(descriptor, 0o600) == 0 ? 0 : errno
    }
  }

  private func copy(_ status: stat, to descriptor: CInt) -> CInt {
    let mode = status.st_mode & 0o777
    var own = stat()
    guard fstat(descriptor, &own) == 0 else { return errno }
    if own.st_uid != status.st_uid || own.st_gid != status.st_gid {
      // Only root can give a file to another user. The owner of a file can change its group only to a group
      // that the owner belongs to.
      let keepsGroup =
        fchown(descriptor, status.st_uid, status.st_gid) == 0
        || fchown(descriptor, uid_t.max, status.st_gid) == 0
      // The group bits, and an ACL entry for the group, would now apply to another group.
      guard keepsGroup else { return fchmod(descriptor, mode & 0o707) == 0 ? 0 : errno }
    }
    // With an ACL, the group bits are its mask. As plain mode bits, they would give access to the whole
    // group.
    guard fchmod(descriptor, mode & 0o707) == 0 else { return errno }
    switch ferry_copy_acl(path, descriptor) {
    case 0: return fchmod(descriptor, mode) == 0 ? 0 : errno
    default: return 0
    }
  }

  /// The reason why the path must not be used: in a world-writable folder, the file or a folder above it
  /// belongs to another user, or the system reports an error for that folder. `nil` if the path may be used.
  ///
  /// The rule is the same as the kernel's for fs.protected_symlinks, fs.protected_regular and
  /// fs.protected_fifos (proc(5)): entries owned by this user or by the folder's owner are trusted.
  package static func refusal(_ path: String) -> String? {
    var entry = stat()
    do throws(FolderPath.Failure) {
      close(try FolderPath.descriptor(of: Array(folder(of: path).utf8), trusting: .ownEntries))
    } catch {
      // An error is also a reason to refuse, because another user may have caused it deliberately.
      return error.reason
    }
    guard lstat(path, &entry) == 0 else { return nil }
    let folder = folderStatus(of: path)
    guard let owner = FolderPath.foreignOwner(of: entry, in: folder) else {
      // A file is replaced, but a link could be followed.
      return entry.st_mode & S_IFMT == S_IFLNK && FolderPath.mayBeForeignName(of: entry, in: folder)
        ? FolderPath.Failure.severalNames(path: path).reason : nil
    }
    return "it belongs to user \(owner), in a world-writable folder; "
      + "remove it, or choose a folder that is writable only by you"
  }

  /// The target of the symbolic link with this name; `nil` if there is none, or if `refusal` rejects it.
  ///
  /// The checked owner is the owner of the link that was read, even if another user replaces the link in the
  /// meantime.
  package static func destination(ofLink path: String) -> String? {
    var before = stat()
    var after = stat()
    guard lstat(path, &before) == 0, before.st_mode & S_IFMT == S_IFLNK,
      FolderPath.foreignOwner(of: before, in: folderStatus(of: path)) == nil
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { readlink(path, $0, characters.count) } ?? 0
      }
    }
    // Only the owner of the link or of the folder can restore the same inode.
    guard count > 0, count < bytes.count, lstat(path, &after) == 0, before.isSameEntry(as: after) else {
      return nil
    }
    // If invalid bytes were replaced, the path would refer to another file.
    return String(validating: bytes[..<count], as: UTF8.self)
  }

  private static func folderStatus(of path: String) -> stat? {
    var status = stat()
    return stat(folder(of: path), &status) == 0 ? status : nil
  }

  private static func folder(of path: String) -> String {
    let start = SplitPath(path).start
    return start.isEmpty ? "." : start
  }
}
