import FerryTransfer

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Decides which symbolic links inside a root are followed, by their owners.
enum LinkOwner {
  /// Why the links that lead to a file are not followed; `nil` if they are.
  ///
  /// A user who can write in one folder of the root could otherwise have any file of the root sent, even one that only
  /// another user may read and that `exclude` names.
  static func refusal(of target: SourceRoot.Target) -> String? {
    let owner = target.status.st_uid
    guard
      let stranger = target.linkOwners.first(where: { $0 != geteuid() && $0 != 0 && $0 != owner })
    else { return nil }
    return "a link of user \(stranger) to a file of user \(owner)"
  }
}
