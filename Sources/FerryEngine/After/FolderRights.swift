import CFiles
import Foundation

/// The permissions of a new folder.
struct FolderRights {
  /// With an ACL, the group bits are its mask.
  var mode: mode_t
  /// The access ACL (acl(5)) in the format of its extended attribute; empty if the folder has none.
  var acl: [UInt8] = []

  /// How a new folder gets its rights: before other users can access it.
  struct Creation {
    private let rights: FolderRights
    /// Whether mkdir(2) alone sets the rights. The umask then applies.
    private let isComplete: Bool

    /// - Parameter folder: the open folder in which the new folder is created.
    init(of rights: FolderRights, in folder: Int32) {
      self.rights = rights
      isComplete = rights.acl.isEmpty && ferry_has_default_acl(folder) == 0
    }

    /// The mode for mkdir(2). With 0700, an inherited ACL gives access to no other user, because its mask is empty.
    var mode: mode_t { isComplete ? rights.mode : 0o700 }

    /// Sets the rights of the new folder. If this fails, only this user has access.
    ///
    /// - Parameter folder: the open folder. It is not changed if it belongs to another user, who has exchanged it.
    func complete(_ folder: Int32) {
      var status = stat()
      guard !isComplete, fstat(folder, &status) == 0, status.st_uid == geteuid(),
        ferry_set_acl(folder, rights.acl, rights.acl.count) == 0
      else { return }
      // The bits of the ACL and of the mode are the same, except for those that were removed from the mode.
      _ = fchmod(folder, status.st_mode & S_ISGID | rights.mode)
    }
  }
}
