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
/// libcurl reads some input until the socket has no more, and returns only then: HTTP/2 frames that carry
/// nothing, the body of a proxy's 407 to CONNECT, TLS records without data. A peer that sends these endlessly
/// would keep the run from reacting to its time limits and to signals. So another thread checks whether a
/// long call of libcurl still calls back. If it does not, the thread shuts down the connection from which
/// most was read meanwhile, which ends the call.
///
/// On systems other than Linux, which do not report how much was read from a socket, it does nothing.
final class StuckTurnGuard: Sendable {
  struct Intervals: Sendable {
    /// How long a call of libcurl may run without calling back before it is checked, and the time between
    /// checks while no call takes long.
    var patience = Duration.seconds(3)
    /// The time between two checks of a call that takes long.
    var sampling = Duration.seconds(1)
  }

  private struct State {
    /// The open sockets.
    var descriptors: Set<CInt> = []
    var isPerforming = false
    /// Whether a check is scheduled.
    var isScheduled = false
    /// The value of `calls` at the last check.
    var seen: UInt64 = 0
    /// Bytes read from each socket as of the last check of the same call.
    var read: [CInt: Int64]?
    var shutDown: [SocketAddress] = []
  }

  private let thread: PollThread
  private let intervals: Intervals
  private let state = Mutex(State())
  /// The number of calls of libcurl, and of libcurl's calls of ferry's functions.
  private let calls = Atomic<UInt64>(0)

  /// - Parameter thread: the thread that checks the sockets.
  init(on thread: PollThread, intervals: Intervals = Intervals()) {
    self.thread = thread
    self.intervals = intervals
  }

  // MARK: The loop's thread

  /// Called before libcurl is called.
  func begin() {
    didCallBack()
    let mustSchedule = state.withLock { state in
      state.isPerforming = true
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { schedule(after: intervals.patience) }
  }

  /// Called when libcurl calls one of ferry's functions, which shows that it makes progress.
  func didCallBack() { calls.add(1, ordering: .relaxed) }

  /// Called when libcurl has returned. Returns the remote addresses of the connections that were shut down
  /// during the call.
  func end() -> [SocketAddress] {
    state.withLock { state in
      state.isPerforming = false
      guard !state.shutDown.isEmpty else { return [] }
      defer { state.shutDown = [] }
      return state.shutDown
    }
  }

  func didOpen(_ descriptor: CInt) { state.withLock { _ = $0.descriptors.insert(descriptor) } }

  /// Called before a socket is closed. From then on, its descriptor number may refer to another file.
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

  /// Bytes received from the network minus the bytes that still wait in the socket.
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

  /// The socket from which most was read between two checks; `nil` if nothing was read.
  private static func busiest(_ before: [CInt: Int64], _ after: [CInt: Int64]) -> CInt? {
    let growth = after.compactMap { descriptor, read in before[descriptor].map { (descriptor, read - $0) } }
    return growth.filter { $0.1 > 0 }.max { $0.1 < $1.1 }?.0
  }
}
