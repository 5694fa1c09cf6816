import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Ends the wait of a `TransferLoop.turn`, from any thread. Has no effect once the loop has been released.
package final class TransferWaker: Sendable {
  private let isWoken = Atomic(false)
  /// A pipe. A byte in it ends the wait.
  let reading: CInt
  private let writing: CInt

  init() throws(TransfersUnavailable) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw TransfersUnavailable(SystemText.error(errno)) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Makes the current turn, or else the next one, return without waiting further.
  package func wake() {
    if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { interrupt() }
  }

  /// Makes the current turn handle pending messages, and then wait again if none of them concerns its caller.
  func interrupt() {
    // A full pipe ends the wait too.
    _ = write(writing, [0], 1)
  }

  /// Returns whether `wake` has been called since the last call of this method.
  func takeWake() -> Bool {
    isWoken.load(ordering: .relaxed) && isWoken.exchange(false, ordering: .acquiringAndReleasing)
  }
}
