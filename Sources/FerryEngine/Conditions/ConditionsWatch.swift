import FerryProcess
import Foundation
import Synchronization

/// Calls a function when the machine's network or power source may have changed. The kernel reports the
/// changes, so polling is not needed.
///
/// `ConditionsProbe` determines the actual change. If the system does not report changes, as on systems other than
/// Linux and in some containers, the function is never called.
package final class ConditionsWatch {
  private let burst: Burst
  private let eventSources: [PollThread.Watch]

  /// Whether the system reports any changes.
  package var isWatching: Bool { !eventSources.isEmpty }

  #if os(Linux)
  /// - Parameter deliver: called on `thread`; must not block. A burst of changes results in one call, 200 ms after
  ///   the first change.
  package convenience init(on thread: PollThread, _ deliver: @escaping @Sendable () -> Void) {
    self.init([NetlinkSocket.network(), NetlinkSocket.power()].compactMap { $0 }, on: thread, deliver)
  }

  /// Listens on these sockets and takes ownership of them.
  package init(
    _ sockets: [NetlinkSocket], delay: Duration = .milliseconds(200), on thread: PollThread,
    _ deliver: @escaping @Sendable () -> Void
  ) {
    let burst = Burst(thread: thread, delay: delay, deliver: deliver)
    self.burst = burst
    eventSources = sockets.map { socket in
      thread.watch(socket.descriptor) { if socket.hasNews() { burst.note() } }
    }
  }
  #else
  package init(on thread: PollThread, _ deliver: @escaping @Sendable () -> Void) {
    burst = Burst(thread: thread, delay: .zero, deliver: deliver)
    eventSources = []
  }
  #endif

  /// Closes the sockets. Afterwards, the function is no longer called.
  deinit { burst.end() }
}

/// Combines a burst of changes into one call.
private final class Burst: Sendable {
  private struct State {
    var isPending = false
    var isOver = false
  }

  private let state = Mutex(State())
  private let thread: PollThread
  private let delay: Duration
  private let deliver: @Sendable () -> Void

  init(thread: PollThread, delay: Duration, deliver: @escaping @Sendable () -> Void) {
    self.thread = thread
    self.delay = delay
    self.deliver = deliver
  }

  /// Records a change. The delay starts at the first change, so that an endless sequence of changes cannot
  /// postpone the call indefinitely.
  func note() {
    let isFirst = state.withLock { state in
      defer { state.isPending = true }
      return !state.isPending
    }
    guard isFirst else { return }
    thread.schedule(after: delay) { [self] in
      let isOver = state.withLock {
        $0.isPending = false
        return $0.isOver
      }
      if !isOver { deliver() }
    }
  }

  func end() { state.withLock { $0.isOver = true } }
}
