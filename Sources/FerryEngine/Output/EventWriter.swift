import FerryPlan
import FerryProcess
import FerryReport
import Foundation

/// Writes the events of a run to a file or a pipe, on a thread.
///
/// A reader that does not read, or a disk that is slow, delays neither requests nor signals: if more than `limit` bytes
/// wait, further events are dropped, and a line with their number is written once there is room.
///
/// The thread collects events for `collection`, because a write and a switch of threads for each event cost more than
/// the request that the event reports.
///
/// `@unchecked Sendable`: every property that changes is accessed under `condition`'s lock.
package final class EventWriter: @unchecked Sendable {
  private static let limit = 8 << 20
  /// The time for which the thread collects events, in nanoseconds, and the number of bytes at which it writes them
  /// without waiting longer.
  private static let collection: Int64 = 100_000_000
  private static let enough = 64 << 10
  /// The time for which the end of the run waits for the remaining events, in nanoseconds.
  private static let patience: Int64 = 5_000_000_000

  /// Writes lines, and returns the error number if that fails.
  private let put: @Sendable (_ bytes: [UInt8], _ count: Int) -> Int32?
  /// The reason why lines are missing although `put` succeeded; `nil` if none are missing.
  private let problem: @Sendable () -> String?
  private let dropped: @Sendable (Int) -> [UInt8]
  private let worker: SerialWorker
  private let condition = DeadlineCondition()
  private var waiting: [UInt8] = []
  /// The number of lines in `waiting`.
  private var count = 0
  private var isWriting = false
  private var isFinishing = false
  private var droppedCount = 0
  private var failure: Int32?

  /// - Parameters:
  ///   - descriptor: the descriptor to write to, which stays open.
  ///   - dropped: returns a line in place of dropped events, given their number.
  package init(_ descriptor: Int32, dropped: @escaping @Sendable (Int) -> [UInt8]) throws {
    put = { bytes, _ in AtomicWrite.failure(of: bytes, to: descriptor) }
    problem = { nil }
    self.dropped = dropped
    worker = try SerialWorker("ferry-events-out")
  }

  /// Writes the entries of a trace.
  package init(_ file: TraceFile) throws {
    put = { bytes, count in file.append(bytes, count: count) }
    problem = { file.problem }
    dropped = { _ in [] }
    worker = try SerialWorker("ferry-trace-out")
  }

  /// Queues lines, or drops them if too many bytes are waiting.
  ///
  /// - Parameter lines: `count` lines. Afterwards, an empty buffer whose storage can be used again.
  package func write(_ lines: inout [UInt8], count added: Int) {
    let starts = condition.withLock { () -> Bool in
      guard failure == nil else { return false }
      guard waiting.count < Self.limit else {
        droppedCount += added
        return false
      }
      if droppedCount > 0 {
        waiting += dropped(droppedCount)
        droppedCount = 0
      }
      let before = waiting.count
      if before == 0 { swap(&waiting, &lines) } else { waiting += lines }
      count += added
      if before < Self.enough, waiting.count >= Self.enough { condition.wakeAll() }
      defer { isWriting = true }
      return !isWriting
    }
    lines.removeAll(keepingCapacity: true)
    if starts { worker.submit { [self] in drain() } }
  }

  private func drain() {
    // The queue and this buffer are swapped, so that neither has to grow again.
    var taken: [UInt8] = []
    while true {
      taken.removeAll(keepingCapacity: true)
      let lines = condition.withLock { () -> Int in
        let deadline = DeadlineCondition.now + Self.collection
        while waiting.count < Self.enough, !isFinishing, DeadlineCondition.now < deadline {
          condition.wait(until: deadline)
        }
        if waiting.isEmpty {
          isWriting = false
          condition.wakeAll()
        }
        swap(&waiting, &taken)
        defer { count = 0 }
        return count
      }
      guard !taken.isEmpty else { return }
      guard let code = put(taken, lines) else { continue }
      condition.withLock {
        failure = code
        waiting = []
        isWriting = false
        condition.wakeAll()
      }
      return
    }
  }

  /// Waits for the queued lines, for a limited time.
  ///
  /// - Returns: the reason why events are missing; `nil` if none are.
  package func finish() -> String? {
    condition.withLock {
      if droppedCount > 0 { waiting += dropped(droppedCount) }
      isFinishing = true
      condition.wakeAll()
      let deadline = DeadlineCondition.now + Self.patience
      while isWriting, DeadlineCondition.now < deadline { condition.wait(until: deadline) }
      // A reader that has closed the pipe does not want more.
      if let failure { return failure == EPIPE ? nil : String(cString: strerror(failure)) }
      if isWriting { return "the reader is not reading" }
      return droppedCount > 0
        ? "\(Count.text(droppedCount, "event")) dropped because the reader was too slow" : problem()
    }
  }
}
