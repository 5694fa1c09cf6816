import FerryProcess
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Shuts down a connection whose peer keeps libcurl from returning.
///
/// libcurl reads some things until the socket has no more of them, and returns only then: HTTP/2 frames that carry
/// nothing, the body of a proxy's 407 to CONNECT, TLS records without data. A peer that sends them without end would
/// make the run deaf to its time limits and to signals. So another thread looks whether a call of libcurl that takes
/// long still calls back; if not, it shuts down the connection from which most was read meanwhile, which ends the call.
///
/// On systems other than Linux, which do not tell how much was read from a socket, it does nothing.
final class StuckTurnGuard: Sendable {
  struct Intervals: Sendable {
    /// Until a call of libcurl that does not call back is looked at, and between looks while no call takes long.
    var patience = Duration.seconds(3)
    /// Between two looks at a call that takes long.
    var sampling = Duration.seconds(1)
  }

  private struct State {
    /// The open sockets.
    var descriptors: Set<CInt> = []
    var isPerforming = false
    /// A look is scheduled.
    var isScheduled = false
    /// `calls` at the last look.
    var seen: UInt64 = 0
    /// What had been read from each socket at the last look at the same call.
    var read: [CInt: Int64]?
    var shutDown: [SocketAddress] = []
  }

  private let thread: PollThread
  private let intervals: Intervals
  private let state = Mutex(State())
  /// Calls of libcurl, and its calls of ferry's functions.
  private let calls = Atomic<UInt64>(0)

  /// - Parameter thread: looks at the sockets.
  init(on thread: PollThread, intervals: Intervals = Intervals()) {
    self.thread = thread
    self.intervals = intervals
  }

  // MARK: The loop's thread

  /// libcurl is called.
  func begin() {
    didCallBack()
    let mustSchedule = state.withLock { state in
      state.isPerforming = true
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { schedule(after: intervals.patience) }
  }

  /// libcurl has called one of ferry's functions, and so got on.
  func didCallBack() { calls.add(1, ordering: .relaxed) }

  /// libcurl has returned. Returns the other ends of the connections that were shut down during the call.
  func end() -> [SocketAddress] {
    state.withLock { state in
      state.isPerforming = false
      guard !state.shutDown.isEmpty else { return [] }
      defer { state.shutDown = [] }
      return state.shutDown
    }
  }

  func didOpen(_ descriptor: CInt) { state.withLock { _ = $0.descriptors.insert(descriptor) } }

  /// The descriptor's number may be another file's from now on.
  func willClose(_ descriptor: CInt) { state.withLock { _ = $0.descriptors.remove(descriptor) } }

  // MARK: The other thread

  private func schedule(after delay: Duration) {
    thread.schedule(after: delay) { self.look() }
  }

  private func look() {
    let now = calls.load(ordering: .relaxed)
    let next: Duration? = state.withLock {
      guard $0.isPerforming else {
        $0.isScheduled = false
        $0.read = nil
        return nil
      }
      guard $0.seen == now else {
        $0.seen = now
        $0.read = nil
        return intervals.patience
      }
      let read = Self.bytesRead(from: $0.descriptors)
      if let before = $0.read, let busiest = Self.busiest(before, read) {
        if let peer = SocketAddress(ofPeerOf: busiest) { $0.shutDown.append(peer) }
        shutdown(busiest, CInt(SHUT_RDWR))
        $0.descriptors.remove(busiest)
      }
      $0.read = read
      return intervals.sampling
    }
    if let next { schedule(after: next) }
  }

  /// What was received from the network without what still waits in the socket.
  private static func bytesRead(from descriptors: Set<CInt>) -> [CInt: Int64] {
    var read: [CInt: Int64] = [:]
    for descriptor in descriptors {
      var waiting: CInt = 0
      guard let info = TCPInfo(of: descriptor), ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else {
        continue
      }
      read[descriptor] = info.received - Int64(waiting)
    }
    return read
  }

  /// The socket from which most was read between two looks; `nil` if nothing was.
  private static func busiest(_ before: [CInt: Int64], _ after: [CInt: Int64]) -> CInt? {
    let growth = after.compactMap { descriptor, read in before[descriptor].map { (descriptor, read - $0) } }
    return growth.filter { $0.1 > 0 }.max { $0.1 < $1.1 }?.0
  }
}
