import FerryTransfer

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Decides which symbolic links inside a root are followed, depending on the links' owners.
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
}
