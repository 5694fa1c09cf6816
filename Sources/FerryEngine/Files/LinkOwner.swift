#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whose symbolic links inside a root are followed.
enum LinkOwner {
  /// Why a link is not followed; `nil` where it is.
  ///
  /// A user who may write in one folder of the root could otherwise have any file of the root sent, also one that this
  /// user alone may read and that `exclude` names.
  static func refusal(ofLink link: stat, to file: stat) -> String? {
    guard link.st_uid != geteuid(), link.st_uid != 0, link.st_uid != file.st_uid else { return nil }
    return "a link of user \(link.st_uid) to a file of user \(file.st_uid)"
  }
}
