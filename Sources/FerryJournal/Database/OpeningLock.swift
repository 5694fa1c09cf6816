import Foundation

/// A lock that is held while a shared file is created or migrated. `init` waits until the lock is free.
struct OpeningLock {
  private let descriptor: Int32

  init(_ path: String) throws(JournalError) {
    descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    while flock(descriptor, LOCK_EX) != 0 {
      let code = errno
      if code == EINTR { continue }
      close(descriptor)
      throw JournalError(errno: code, doing: "lock", file: path)
    }
  }

  func release() { close(descriptor) }
}
