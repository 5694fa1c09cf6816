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

  /// The sessions whose journal is missing, although the record of its transactions contains some. This shows the loss even
  /// if `ferry.db` is lost too.
  package var lostJournals: Set<String> {
    get throws(JournalError) {
      var lost: Set<String> = []
      for session in try recordedSessions() where try presence(ofSession: session) == .missing {
        let stored = try StoredCommits.read(commits(ofSession: session)).counts
        if stored?.lost(from: 0) ?? 0 > 0 { lost.insert(session) }
      }
      return lost
    }
  }
}
