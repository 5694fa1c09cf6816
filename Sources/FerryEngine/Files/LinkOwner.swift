import FerryTransfer

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Decides which links inside a root are followed, depending on the users who may have created them.
enum LinkOwner {
  /// The reason why the links to a file are not followed; `nil` if they are followed.
  ///
  /// If such links were followed, a user with write access to one folder of the root could have any file in the root
  /// sent, even a file that only another user may read or that `exclude` matches.
  static func refusal(of target: SourceRoot.Target) -> String? {
    let owner = target.status.st_uid
    guard
      let stranger = target.linkOwners.first(where: { $0 != geteuid() && $0 != 0 && $0 != owner })
    else { return nil }
    return "it is a symbolic link of user \(stranger) to a file of user \(owner), which ferry does not follow"
  }

  /// The reason why a file with several names is not sent; `nil` if it is.
  ///
  /// Another user who may create files in the folder may have created the name. Linux prevents hard links to files of
  /// other users only if fs.protected_hardlinks is 1 (proc(5)), which is not the kernel's default.
  static func refusal(ofName file: stat, in folder: stat) -> String? {
    guard file.st_nlink > 1 else { return nil }
    if folder.st_mode & 0o002 != 0 {
      return
        "it has several names (hard links), and any user may have created this one, because the folder is "
        + "world-writable"
    }
    let stranger = folder.st_uid
    guard stranger != geteuid(), stranger != 0, stranger != file.st_uid else { return nil }
    return
      "it has several names (hard links), and user \(stranger), who owns the folder, may have created this one for a "
      + "file of user \(file.st_uid)"
  }
}
