import FerryEngine
import FerryProcess
import Foundation

/// A stream for messages, which a stopped terminal or a pipe that nobody reads can block.
///
/// From `prepare()` on, another thread writes. The caller waits for it, but for at most `patience`: a run must not be kept
/// from handling signals and time limits by somebody who does not read its messages. While a write is blocked, further
/// messages are dropped and counted; the next one that can be written says so.
///
/// `@unchecked Sendable`: every property is accessed under `condition`'s lock.
final class MessageStream: @unchecked Sendable {
  static let standardError = MessageStream(STDERR_FILENO)
  static let standardOutput = MessageStream(STDOUT_FILENO)

  private static let patience: Int64 = 5_000_000_000

  private let descriptor: Int32
  private let condition = DeadlineCondition()
  private var isWriting = false
  private var dropped = 0
  /// `nil` before `prepare()`, and if the system refuses a thread; the caller writes then.
  private var worker: SerialWorker?

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Creates the thread. A run calls this once it has the threads that it cannot do without.
  func prepare() {
    condition.withLock { if worker == nil { worker = try? SerialWorker("ferry-messages") } }
  }

  func write(_ text: String) {
    guard let (worker, bytes) = begin(text) else { return }
    guard let worker else {
      put(bytes)
      return condition.withLock { isWriting = false }
    }
    worker.submit { [self] in
      put(bytes)
      condition.withLock {
        isWriting = false
        condition.wakeAll()
      }
    }
    condition.withLock {
      let deadline = DeadlineCondition.now + Self.patience
      while isWriting, DeadlineCondition.now < deadline { condition.wait(until: deadline) }
    }
  }

  /// Begins to write a message. Returns `nil` if an earlier one is still blocked.
  private func begin(_ text: String) -> (SerialWorker?, [UInt8])? {
    condition.withLock {
      guard !isWriting else {
        dropped += 1
        return nil
      }
      isWriting = true
      defer { dropped = 0 }
      let notice =
        dropped == 0
        ? "" : "ferry: \(dropped) messages were dropped, because this stream could not be written\n"
      return (worker, Array((notice + text).utf8))
    }
  }

  private func put(_ bytes: [UInt8]) {
    // Transfers continue if the reader has closed the pipe (EPIPE) or the terminal is gone (EIO).
    _ = AtomicWrite.failure(of: bytes, to: descriptor)
  }
}
