#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Decides which symbolic links inside a root are followed, by their owners.
enum LinkOwner {
  /// Why a link is not followed; `nil` if it is.
  ///
  /// Otherwise a user who may write in one folder of the root could have any file of the root sent, including one
  /// that only this user may read and that `exclude` names.
  static func refusal(ofLink link: stat, to file: stat) -> String? {
    guard link.st_uid != geteuid(), link.st_uid != 0, link.st_uid != file.st_uid else { return nil }
    return "a link of user \(link.st_uid) to a file of user \(file.st_uid)"
  }
}
