import Foundation

/// A place in the file system for a socket that nobody else can reach.
///
/// A folder of its own with mode 0700, under `/tmp` and not under `TMPDIR`: a socket's path holds about a
/// hundred bytes.
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
