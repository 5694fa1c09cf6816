import Foundation

/// Held for the moment in which a shared file is created or migrated; waits for its turn.
struct OpeningLock {
  private let descriptor: Int32

  init(_ path: String) throws(JournalError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw JournalError(errno: errno, doing: "open", file: path) }
    while flock(descriptor, LOCK_EX) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      throw JournalError(errno: code, doing: "lock", file: path)
    }
  }

  func release() { close(descriptor) }
}
