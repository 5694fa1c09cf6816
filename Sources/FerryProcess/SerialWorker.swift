/// A thread that runs blocks one after another, in the order in which they were submitted.
///
/// The thread exists when `init` returns. It ends after the worker has been released and all submitted
/// blocks have run.
package final class SerialWorker: Sendable {
  private let queue = Queue()

  /// - Parameter name: the thread's name, at most 15 bytes.
  package init(_ name: String) throws(ThreadUnavailable) {
    try SystemThread.start(name) { [queue] in queue.run() }
  }

  deinit { queue.close() }

  package func submit(_ block: @escaping @Sendable () -> Void) { queue.submit(block) }

  /// Waits until all previously submitted blocks have run. Must not be called on the worker's own thread.
  package func drain() { queue.drain() }

  /// The waiting blocks. The queue outlives the worker until the thread ends.
  ///
  /// `@unchecked Sendable`: every property is accessed under `condition`'s lock.
  private final class Queue: @unchecked Sendable {
    private let condition = DeadlineCondition()
    private var waiting: [@Sendable () -> Void] = []
    private var submitted: UInt64 = 0
    private var completed: UInt64 = 0
    private var isIdle = false
    private var isClosing = false
    /// The number of waiting callers of `drain`.
    private var drains = 0

    func submit(_ block: @escaping @Sendable () -> Void) {
      condition.withLock {
        waiting.append(block)
        submitted += 1
        if isIdle { condition.wakeAll() }
      }
    }

    func drain() {
      condition.withLock {
        let last = submitted
        drains += 1
        while completed < last { condition.wait() }
        drains -= 1
      }
    }

    func close() {
      condition.withLock {
        isClosing = true
        condition.wakeAll()
      }
    }

    func run() {
      while let blocks = next() {
        for block in blocks { block() }
        condition.withLock {
          completed += UInt64(blocks.count)
          if drains > 0 { condition.wakeAll() }
        }
      }
    }

    /// Returns all waiting blocks; `nil` if there are none and the worker has been released.
    private func next() -> [@Sendable () -> Void]? {
      condition.withLock {
        while waiting.isEmpty {
          if isClosing { return nil }
          isIdle = true
          condition.wait()
          isIdle = false
        }
        defer { waiting = [] }
        return waiting
      }
    }
  }
}
