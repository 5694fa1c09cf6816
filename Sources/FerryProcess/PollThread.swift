#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A thread that waits for descriptors and deadlines (poll(2)) and calls their handlers.
///
/// The thread exists when `init` returns, and ends after the `PollThread` is released. A handler must not
/// block.
package final class PollThread: Sendable {
  private let loop: Loop

  /// - Parameter name: the thread's name, at most 15 bytes.
  package init(_ name: String) throws(ThreadUnavailable) {
    let loop = try Loop(name)
    try SystemThread.start(name) { loop.run() }
    self.loop = loop
  }

  deinit { loop.close() }

  /// Calls `handler` on the thread while the descriptor is readable, until the watch is released.
  ///
  /// - Parameter descriptor: a non-blocking descriptor. The watch takes ownership and closes it.
  package func watch(_ descriptor: Int32, _ handler: @escaping @Sendable () -> Void) -> Watch {
    Watch(loop: loop, descriptor: loop.add(descriptor, handler))
  }

  /// Calls `body` once on the thread, after the delay.
  package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    loop.schedule(after: delay, body)
  }

  /// A descriptor that is watched until this object is released.
  package final class Watch: Sendable {
    private let loop: Loop
    private let identifier: UInt64

    fileprivate init(loop: Loop, descriptor identifier: UInt64) {
      self.loop = loop
      self.identifier = identifier
    }

    /// After the release, no new call of the handler begins. The thread closes the descriptor, because a
    /// running call may still read from it.
    deinit { loop.remove(identifier) }
  }

  /// The state of the thread. It outlives the `PollThread` until the thread ends.
  ///
  /// `@unchecked Sendable`: `state` is accessed under `condition`'s lock; the other properties never change.
  fileprivate final class Loop: @unchecked Sendable {
    private struct Source {
      var descriptor: Int32
      /// `nil` if the source has been removed and only needs to be closed.
      var handler: (@Sendable () -> Void)?
    }

    private struct Timer {
      /// The deadline in nanoseconds on the clock of `DeadlineCondition`.
      var deadline: Int64
      var body: @Sendable () -> Void
    }

    private struct State {
      var sources: [UInt64: Source] = [:]
      var timers: [Timer] = []
      var last: UInt64 = 0
      var isClosing = false
    }

    /// The reading end of a pipe. A byte in it ends the thread's wait.
    private let reading: Int32
    private let writing: Int32
    private let condition = DeadlineCondition()
    private var state = State()

    init(_ name: String) throws(ThreadUnavailable) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw ThreadUnavailable(name: name, number: errno) }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      (reading, writing) = (ends[0], ends[1])
    }

    deinit {
      _ = Self.closeDescriptor(reading)
      _ = Self.closeDescriptor(writing)
    }

    func add(_ descriptor: Int32, _ handler: @escaping @Sendable () -> Void) -> UInt64 {
      condition.withLock {
        state.last += 1
        state.sources[state.last] = Source(descriptor: descriptor, handler: handler)
        wake()
        return state.last
      }
    }

    func remove(_ identifier: UInt64) {
      condition.withLock {
        state.sources[identifier]?.handler = nil
        wake()
      }
    }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
      let (seconds, attoseconds) = delay.components
      let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let deadline = DeadlineCondition.now.addingReportingOverflow(
        nanoseconds.overflow ? .max : nanoseconds.partialValue + attoseconds / 1_000_000_000)
      condition.withLock {
        state.timers.append(Timer(deadline: deadline.overflow ? .max : deadline.partialValue, body: body))
        wake()
      }
    }

    func close() {
      condition.withLock {
        state.isClosing = true
        wake()
      }
    }

    /// Wakes the thread up. If the pipe is full, the thread wakes up anyway.
    private func wake() { _ = write(writing, [0], 1) }

    func run() {
      while let (identifiers, descriptors, wait) = prepare() {
        var polled = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)]
        polled += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&polled, nfds_t(polled.count), wait) > 0 else { continue }
        if polled[0].revents != 0 { drain() }
        for (identifier, entry) in zip(identifiers, polled.dropFirst()) where entry.revents != 0 {
          condition.withLock { state.sources[identifier]?.handler }?()
          // A descriptor in one of these states would immediately end every further wait.
          if Int32(entry.revents) & (POLLHUP | POLLNVAL) != 0 { remove(identifier) }
        }
      }
    }

    /// Closes removed sources and runs due timers. Returns the descriptors to wait for, and the maximum wait
    /// in milliseconds; `nil` if the thread must end.
    private func prepare() -> (identifiers: [UInt64], descriptors: [Int32], wait: Int32)? {
      let now = DeadlineCondition.now
      let (due, isOver) = condition.withLock {
        if state.isClosing {
          for identifier in state.sources.keys { state.sources[identifier]?.handler = nil }
          state.timers = []
        }
        for (identifier, source) in state.sources where source.handler == nil {
          _ = Self.closeDescriptor(source.descriptor)
          state.sources[identifier] = nil
        }
        let due = state.timers.filter { $0.deadline <= now }
        state.timers.removeAll { $0.deadline <= now }
        return (due, state.isClosing)
      }
      guard !isOver else { return nil }
      for timer in due { timer.body() }
      return condition.withLock {
        let sources = state.sources.sorted { $0.key < $1.key }.filter { $0.value.handler != nil }
        return (sources.map(\.key), sources.map(\.value.descriptor), wait())
      }
    }

    /// Milliseconds until the next timer, rounded up; -1 without a timer.
    private func wait() -> Int32 {
      guard let next = state.timers.map(\.deadline).min() else { return -1 }
      let rest = max(0, next - DeadlineCondition.now)
      return Int32(min(rest / 1_000_000 + (rest % 1_000_000 > 0 ? 1 : 0), Int64(Int32.max)))
    }

    private func drain() {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(reading, &bytes, bytes.count) == bytes.count {}
    }

    /// This wrapper is needed because `close` is also the name of a method here.
    private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
      #if canImport(Darwin)
      Darwin.close(descriptor)
      #elseif canImport(Musl)
      Musl.close(descriptor)
      #else
      Glibc.close(descriptor)
      #endif
    }
  }
}
