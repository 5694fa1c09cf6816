import CFiles
import Foundation

/// The permissions of a folder that contains a file, or of several such folders that all protect it.
struct FolderLevel {
  private enum ACL: Equatable {
    case none
    /// The ACL in the format of its extended attribute.
    case entries([UInt8])
    case unknown

    /// The ACL without the permissions that the mode shows: those of the owner, the mask and other users.
    var withoutMode: ACL {
      #if os(Linux)
      guard case .entries(var bytes) = self else { return self }
      // linux/posix_acl_xattr.h: a version of 4 bytes, then entries with a tag, permissions (2 bytes each) and an ID.
      for entry in stride(from: 4, to: bytes.count - 7, by: 8)
      where [0x01, 0x10, 0x20].contains(bytes[entry]) {
        bytes[entry + 2] = 0
      }
      return .entries(bytes)
      #else
      return self
      #endif
    }
  }

  /// The maximum size of an ACL that is preserved, about 500 entries.
  private static let sizeLimit = 4096

  private var mode: mode_t
  /// Whether users other than the one who runs ferry, and root, can create and rename entries of the folder, even if it is
  /// sticky. The owner can give and withdraw this right at any time.
  let isShared: Bool
  let owner: uid_t
  let group: gid_t
  private var acl: ACL

  /// - Parameters:
  ///   - folder: the open folder.
  ///   - status: its status.
  init(_ folder: Int32, _ status: stat) {
    // In a sticky folder, only the owner of a file can remove it. The owner of a new folder must be able to move files to it.
    mode = status.st_mode & (status.st_mode & S_ISVTX == 0 ? 0o777 : 0o755) | 0o700
    isShared = status.st_mode & 0o022 != 0 || ![geteuid(), 0].contains(status.st_uid)
    (owner, group) = (status.st_uid, status.st_gid)
    var bytes = [UInt8](repeating: 0, count: Self.sizeLimit)
    switch ferry_get_acl(folder, &bytes, bytes.count) {
    case 0: acl = .none
    case let count where count > 0: acl = .entries(Array(bytes[..<count]))
    default: acl = .unknown
    }
  }

  /// Removes the permissions that a folder above does not give.
  mutating func restrict(by other: FolderLevel) {
    mode &= other.mode
    if acl != other.acl || acl != .none && group != other.group {
      // An ACL can give a user more or fewer permissions than the mode shows.
      (mode, acl) = (0o700, .none)
    } else if group != other.group {
      mode = Self.forAnyGroup(mode)
    }
  }

  /// The rights of a new folder with at most these permissions.
  ///
  /// - Parameter newGroup: the group of the new folder; `nil` if unknown.
  func rights(forGroup newGroup: gid_t?) -> FolderRights {
    switch acl {
    case .none: FolderRights(mode: group == newGroup ? mode : Self.forAnyGroup(mode))
    case .entries(let bytes) where group == newGroup: FolderRights(mode: mode, acl: bytes)
    case .entries, .unknown: FolderRights(mode: 0o700)
    }
  }

  /// Whether the folder lets other users list it, open its files or change its entries, and `rights` do not, or it is unknown
  /// whether they do.
  func exposesMore(than rights: FolderRights) -> Bool {
    let other = rights.acl.isEmpty ? ACL.none : .entries(rights.acl)
    return mode & 0o077 & ~(acl.withoutMode == other.withoutMode ? rights.mode : 0) != 0
  }

  /// The mode for a folder with another group. The members of each group are other users for the other folder.
  private static func forAnyGroup(_ mode: mode_t) -> mode_t {
    let common = mode & (mode >> 3) & 0o7
    return mode & 0o700 | common << 3 | common
  }
}
