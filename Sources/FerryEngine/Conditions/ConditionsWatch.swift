import Foundation
import Synchronization

/// Says when the machine's network or power may have changed. It is told by the kernel and does not ask.
///
/// What changed is for `ConditionsProbe` to find out. Where the system tells nothing (another system than Linux, a
/// container that refuses), nobody is called.
package final class ConditionsWatch {
  private let burst: Burst
  private let sources: [any DispatchSourceRead]

  /// Whether the system tells of anything.
  package var isWatching: Bool { !sources.isEmpty }

  #if os(Linux)
  /// - Parameter deliver: is called on a thread of its own; a burst of changes is one call, 200 ms after the first.
  package convenience init(_ deliver: @escaping @Sendable () -> Void) {
    self.init([NetlinkSocket.network(), NetlinkSocket.power()].compactMap { $0 }, deliver)
  }

  /// Listens on these sockets, which are its own from now on.
  package init(
    _ sockets: [NetlinkSocket], delay: DispatchTimeInterval = .milliseconds(200),
    _ deliver: @escaping @Sendable () -> Void
  ) {
    let queue = DispatchQueue(label: "ferry.conditions")
    let burst = Burst(queue: queue, delay: delay, deliver: deliver)
    self.burst = burst
    sources = sockets.map { socket in
      let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
      source.setEventHandler { if socket.hasNews() { burst.note() } }
      // Not before: the number may be another file's as soon as it is closed.
      source.setCancelHandler { close(socket.descriptor) }
      source.resume()
      return source
    }
  }
  #else
  package init(_ deliver: @escaping @Sendable () -> Void) {
    burst = Burst(queue: .global(), delay: .never, deliver: deliver)
    sources = []
  }
  #endif

  /// No call begins after this; the sockets are closed.
  deinit {
    burst.end()
    for source in sources { source.cancel() }
  }
}

/// Makes one call of the changes that come close together.
private final class Burst: Sendable {
  private struct State {
    var isPending = false
    var isOver = false
  }

  private let state = Mutex(State())
  private let queue: DispatchQueue
  private let delay: DispatchTimeInterval
  private let deliver: @Sendable () -> Void

  init(queue: DispatchQueue, delay: DispatchTimeInterval, deliver: @escaping @Sendable () -> Void) {
    self.queue = queue
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
    queue.asyncAfter(deadline: .now() + delay) { [self] in
      let isOver = state.withLock {
        $0.isPending = false
        return $0.isOver
      }
      if !isOver { deliver() }
    }
  }

  func end() { state.withLock { $0.isOver = true } }
}
