import FerryPlan
import Foundation

extension SessionLock {
  /// The holder of a session, according to its lock file.
  package struct Holder: Hashable, Sendable {
    /// The pid; `nil` until the holder has written it.
    package var pid: Int32?
    package var since: Instant?
    /// `nil` until the holder has written it. Older versions of ferry do not write it.
    package var use: Use?
  }

  /// The current holder of the session; `nil` if there is none. The query does not affect the lock, so other
  /// processes can acquire it in the meantime.
  package static func holder(
    session identifier: String, in state: StateDirectory
  ) throws(JournalError) -> Holder? {
    let path = try state.lock(ofSession: identifier)
    guard access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR) else { return nil }
    let descriptor = try StateFile.open(path, O_RDONLY, doing: "read")
    defer { close(descriptor) }
    let holder = read(descriptor)
    var lock = wholeFile(F_RDLCK)
    guard fcntl(descriptor, getOpenFileLock, &lock) == 0 else {
      throw JournalError(errno: errno, doing: "query the lock of", file: path)
    }
    return lock.l_type == F_UNLCK ? nil : holder
  }
}
