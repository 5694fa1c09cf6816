import FerryEngine
import FerryPlan
import FerryProcess
import Foundation

/// A stream for messages. It can be blocked by a stopped terminal or by a pipe that is not read.
///
/// After `prepare()`, another thread writes the messages. The caller waits for that thread for at most `patience`,
/// because a reader that does not read messages must not prevent a run from handling signals and time limits. While a
/// write is blocked, further messages are dropped and counted; the next successful write reports their number.
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
  /// `nil` before `prepare()`, or if the system refuses to create a thread; the caller then writes directly.
  private var worker: SerialWorker?

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Creates the thread. A run calls this after it has created its required threads.
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

  /// Starts writing a message. Returns `nil` if an earlier write is still blocked.
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
        ? ""
        : "ferry: dropped \(Count.text(dropped, "message")) because this stream could not be written to\n"
      return (worker, Array((notice + text).utf8))
    }
  }

  private func put(_ bytes: [UInt8]) {
    // Transfers continue if the reader has closed the pipe (EPIPE) or the terminal has disappeared (EIO).
    _ = AtomicWrite.failure(of: bytes, to: descriptor)
  }
}
