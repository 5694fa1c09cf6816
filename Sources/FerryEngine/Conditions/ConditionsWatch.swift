import FerryProcess
import Foundation
import Synchronization

/// Calls when the machine's network or power may have changed. The kernel notifies it; it does not poll.
///
/// What changed is for `ConditionsProbe` to find out. Where the system does not notify (another system than Linux, a
/// container that refuses), nobody is called.
package final class ConditionsWatch {
  private let burst: Burst
  private let eventSources: [PollThread.Watch]

  /// Whether the system notifies of anything.
  package var isWatching: Bool { !eventSources.isEmpty }

  #if os(Linux)
  /// - Parameter deliver: is called on `thread` and must not wait; a burst of changes is one call, 200 ms after the
  ///   first.
  package convenience init(on thread: PollThread, _ deliver: @escaping @Sendable () -> Void) {
    self.init([NetlinkSocket.network(), NetlinkSocket.power()].compactMap { $0 }, on: thread, deliver)
  }

  /// Listens on these sockets, which are its own from now on.
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

  /// No call begins after this; the sockets are closed.
  deinit { burst.end() }
}

/// Makes one call of the changes that come close together.
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

  /// The delay runs from the first change: changes without end are not put off without end.
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
