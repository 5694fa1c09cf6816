import FerryPlan
import FerryProcess
import Foundation

/// The versions of the files in which a state folder records runs and items, so that a reader notices changes without
/// opening the databases. A file system may give two changes within two seconds the same time. Processes on other
/// machines may write to the files, so inotify(7) does not suffice.
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
}
