import Foundation

/// The path of a socket that no other user can reach.
///
/// It is in a new folder with mode 0700, under `/tmp` instead of `TMPDIR`, because a socket's path is limited
/// to about a hundred bytes.
struct PrivateSocket: Sendable {
  private let folder: String

  var path: String { "\(folder)/http" }

  init() throws {
    var template = Array("/tmp/ferry-receiver-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SystemSocket.Failure.last("mkdtemp in /tmp") }
    folder = String(cString: made)
  }

  func remove() {
    unlink(path)
    rmdir(folder)
  }
}
