import FerryPlan
import FerryProcess
import FerryReport
import Foundation

/// Writes encoded events of a run to a file or a pipe, on a thread.
///
/// The run's thread performs the requests, so it only queues the events.
///
/// A reader that does not read, or a disk that is slow, delays neither requests nor signals: if the waiting events
/// occupy more than `limit` bytes, further events are dropped, and an event with their number takes their place once
/// there is room.
///
/// The thread collects events for `collection`, because a write and a switch of threads for each event cost more than
/// the request that the event reports.
///
/// `@unchecked Sendable`: every property that changes is accessed under `condition`'s lock.
package final class EventWriter: @unchecked Sendable {
  /// Appends an event that reports dropped events, given their number and the time of the last of them.
  typealias DroppedEncoder = @Sendable (_ count: Int, _ last: Instant, _ bytes: inout ByteBuffer) -> Void

  /// The size of the waiting events at which further events are dropped, in bytes.
  private static let limit = 8 << 20
  /// The time for which the thread collects events, in nanoseconds, and the size at which it writes them without waiting
  /// longer.
  private static let collection: Int64 = 100_000_000
  private static let enough = 1 << 20
  /// The time for which the end of the run waits for the remaining events, in nanoseconds.
  private static let patience: Int64 = 5_000_000_000

  /// `nil` if the format has no such event.
  private let encodeDropped: DroppedEncoder?
  /// Writes a number of encoded events, and returns the error number if that fails.
  private let put: @Sendable (_ bytes: UnsafeBufferPointer<UInt8>, _ count: Int) -> Int32?
  /// The reason why events are missing although `put` succeeded; `nil` if none are missing.
  private let problem: @Sendable () -> String?
  private let worker: SerialWorker
  private let condition = DeadlineCondition()
  private var waiting = EncodedEvents()
  private var isWriting = false
  /// The time at which `finish` stops waiting, in nanoseconds; `nil` before `close`.
  private var end: Int64?
  /// The events that were dropped since the thread last took the queue.
  private var dropped: (count: Int, last: Instant)?
  /// The number of all events that were dropped.
  private var missing = 0
  private var failure: Int32?

  /// - Parameter thread: the thread's name, at most 15 bytes.
  init(
    thread: String, encodeDropped: DroppedEncoder? = nil,
    put: @escaping @Sendable (UnsafeBufferPointer<UInt8>, Int) -> Int32?,
    problem: @escaping @Sendable () -> String? = { nil }
  ) throws(ThreadUnavailable) {
    (self.encodeDropped, self.put, self.problem) = (encodeDropped, put, problem)
    worker = try SerialWorker(thread)
  }

  /// Queues events, or drops them if too many are waiting.
  package func write(_ events: borrowing EncodedEvents) {
    guard !events.isEmpty else { return }
    let starts = condition.withLock { () -> Bool in
      guard failure == nil else { return false }
      let before = waiting.bytes.count
      guard before < Self.limit else {
        dropped = ((dropped?.count ?? 0) + events.count, events.last)
        missing += events.count
        return false
      }
      waiting.append(events)
      if before < Self.enough, waiting.bytes.count >= Self.enough { condition.wakeAll() }
      defer { isWriting = true }
      return !isWriting
    }
    if starts { worker.submit { [self] in drain() } }
  }

  /// Queues an event in place of the dropped ones, which all came after the waiting events. Called when the thread takes
  /// the queue, because no later event may follow. The lock must be held.
  private func queueDropped() {
    guard let (count, last) = dropped else { return }
    dropped = nil
    guard let encodeDropped else { return }
    waiting.append(at: last) { encodeDropped(count, last, &$0) }
  }

  private func drain() {
    // The queue and these events are swapped, so that the memory of both is used again.
    var taken = EncodedEvents()
    while true {
      taken.removeAll()
      condition.withLock {
        let deadline = DeadlineCondition.now + Self.collection
        while waiting.bytes.count < Self.enough, end == nil, DeadlineCondition.now < deadline {
          condition.wait(until: deadline)
        }
        queueDropped()
        if waiting.isEmpty {
          isWriting = false
          condition.wakeAll()
        }
        swap(&waiting, &taken)
      }
      guard !taken.isEmpty else { return }
      let count = taken.count
      guard let code = taken.bytes.withBytes({ put($0, count) }) else { continue }
      condition.withLock {
        failure = code
        waiting = EncodedEvents()
        isWriting = false
        condition.wakeAll()
      }
      return
    }
  }

  /// Announces that no event follows. The thread writes the queued events without collecting further ones, and the time
  /// for which `finish` waits begins.
  package func close() {
    condition.withLock {
      guard end == nil else { return }
      end = DeadlineCondition.now + Self.patience
      condition.wakeAll()
    }
  }

  /// Waits for the queued events, for a limited time.
  ///
  /// - Returns: the reason why events are missing; `nil` if none are.
  package func finish() -> String? {
    close()
    return condition.withLock {
      while isWriting, let end, DeadlineCondition.now < end { condition.wait(until: end) }
      // A reader that has closed the pipe does not want more.
      if let failure { return failure == EPIPE ? nil : String(cString: strerror(failure)) }
      if isWriting { return "the reader is not reading" }
      return missing > 0
        ? "\(Count.text(missing, "event")) dropped because the reader was too slow" : problem()
    }
  }
}
