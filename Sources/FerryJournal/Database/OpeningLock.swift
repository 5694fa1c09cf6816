import Foundation

/// A lock that is held while a shared file is created or migrated.
struct OpeningLock {
  /// The time between two attempts in microseconds. flock(2) cannot wait for a limited time.
  private static let pause: UInt32 = 10_000

  private let descriptor: Int32

  /// Waits for another process that holds the lock.
  ///
  /// - Parameter patience: the maximum wait in seconds. If it has passed, the error is `busy`: a process can be stopped while
  ///   it holds the lock.
  init(_ path: String, patience: Double) throws(JournalError) {
    descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      guard code == EWOULDBLOCK else {
        close(descriptor)
        throw JournalError(errno: code, doing: "lock", file: path)
      }
      guard ContinuousClock.now < deadline else {
        close(descriptor)
        throw JournalError(
          .busy, file: path, cause: "another process has kept it locked for \(Int(patience)) seconds")
      }
      usleep(Self.pause)
    }
  }

  func release() { close(descriptor) }
}
