import Foundation

/// Whether a session's journal exists.
package enum JournalPresence: Sendable {
  case there
  /// The file is empty. SQLite removes the log of an empty file.
  case emptied
  case missing
}

extension StateDirectory {
  package func presence(ofSession identifier: String) throws(JournalError) -> JournalPresence {
    let path = try database(ofSession: identifier)
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT ? .missing : .there }
    return status.st_size == 0 ? .emptied : .there
  }
}
