import FerryPlan
import FerryProcess
import Foundation

/// The versions of the files in which a state folder records runs and items, so that a reader notices changes without
/// opening the databases. Processes on other machines may write to the files, so that inotify(7) does not suffice.
package struct StateVersion: Hashable, Sendable {
  private struct File: Hashable {
    var path: String
    var inode: UInt64
    var size: Int64
    var modified: Int64
  }

  private var files: [File] = []

  package init(_ state: StateDirectory) throws(JournalError) {
    for session in try state.sessions() { add(try state.database(ofSession: session)) }
    add(state.history)
  }

  private mutating func add(_ database: String) {
    for path in DatabaseFile.files(of: database) where !path.hasSuffix("-shm") {
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      files.append(
        File(
          path: path, inode: UInt64(status.st_ino), size: Int64(status.st_size),
          modified: status.modifiedNanoseconds))
    }
  }

  /// Whether a file was modified so shortly before this time that a later change may have left the same time: file systems
  /// have a resolution of milliseconds or seconds.
  package func isRecent(at now: Instant) -> Bool {
    files.contains { $0.modified >= now.nanoseconds -| 2_000_000_000 }
  }
}
