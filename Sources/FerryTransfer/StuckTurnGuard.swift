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
/// While libcurl reads certain data, it returns only when the socket is empty: HTTP/2 frames without content,
/// the body of a proxy's 407 response to CONNECT, and TLS records without data. A peer that sends such data
/// endlessly would prevent the run from handling its time limits and signals. Therefore, another thread
/// checks long calls to libcurl once a second. It shuts down a connection from which libcurl has read data in
/// several consecutive checks of one call: a call that returns in time handles each connection only once.
///
/// A call also does not return while a library waits for something else: Kerberos for its key distribution center, or the
/// kernel for the file system of a file. This cannot be interrupted. If the run is to stop and such a call
/// does not return, the guard ends the process.
///
/// A call can also be slow because of ferry itself, for example during a write to a slow disk. Therefore, a
/// connection whose data reaches ferry is given more time.
///
/// On systems other than Linux, which do not report the number of bytes read from a socket, the guard has no
/// effect.
final class StuckTurnGuard: Sendable {
  struct Limits: Sendable {
    /// The time from the start of a libcurl call to the first check.
    var patience = Duration.seconds(2)
    /// The time between two checks of a call.
    var interval = Duration.seconds(1)
    /// The number of consecutive intervals during which libcurl may read from one connection without
    /// invoking a callback.
    var silent = 4
    /// The corresponding limit if libcurl invokes callbacks during these intervals.
    var talking = 30
    /// The number of consecutive intervals, after the run was to stop, in which a call neither reads from a connection nor
    /// invokes a callback, until the process ends.
    var stopped = 20
  }

  fileprivate struct Looks {
    /// The number of bytes read from each socket at the last check.
    var read: [CInt: Int64]
    /// The number of consecutive intervals in which data was read from the socket.
    var reading: [CInt: Int] = [:]
    /// Like `reading`, but counts only intervals in which libcurl did not call any of ferry's functions.
    var silent: [CInt: Int] = [:]
  }

  private struct State {
    /// The open sockets.
    var descriptors: Set<CInt> = []
    var isPerforming = false
    /// The number of calls to libcurl.
    var performs: UInt64 = 0
    var isScheduled = false
    /// The values of `performs` and `callbacks` at the last check.
    var seen: (performs: UInt64, callbacks: UInt64) = (0, 0)
    /// The checks of the current call.
    var looks: Looks?
    var shutDown: [SocketAddress] = []
    var mustStop = false
    /// The number of consecutive intervals of the current call, after the run was to stop, in which libcurl did nothing.
    var stuckSinceStop = 0
  }

  private let thread: PollThread
  private let limits: Limits
  private let endProcess: @Sendable () -> Void
  private let state = Mutex(State())
  /// The number of times that libcurl has called one of ferry's functions.
  private let callbacks = Atomic<UInt64>(0)

  /// - Parameters:
  ///   - thread: performs the checks.
  ///   - endProcess: called if a call does not return although the run is to stop.
  init(
    on thread: PollThread, limits: Limits = Limits(),
    endProcess: @escaping @Sendable () -> Void = { ProcessEnd.kill(because: message) }
  ) {
    self.thread = thread
    self.limits = limits
    self.endProcess = endProcess
  }

  private static let message =
    "ferry: a call to libcurl does not return, although the run is to stop: it may be waiting for a Kerberos server, or for "
    + "the file system of a file. The process ends as if it had been killed; the next run continues"

  /// Must be called when the run is to stop. May be called on any thread.
  func runMustStop() { state.withLock { $0.mustStop = true } }

  // MARK: The loop's thread

  /// Must be called before each call to libcurl.
  func begin() {
    let mustSchedule = state.withLock { state in
      state.isPerforming = true
      state.performs += 1
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if mustSchedule { schedule(after: limits.patience) }
  }

  /// Must be called when libcurl calls one of ferry's functions.
  func didCallBack() { callbacks.add(1, ordering: .relaxed) }

  /// Must be called after each call to libcurl. Returns the peers of the connections that were shut down during
  /// the call.
  func end() -> [SocketAddress] {
    state.withLock { state in
      state.isPerforming = false
      guard !state.shutDown.isEmpty else { return [] }
      defer { state.shutDown = [] }
      return state.shutDown
    }
  }

  func didOpen(_ descriptor: CInt) { state.withLock { _ = $0.descriptors.insert(descriptor) } }

  /// Must be called before the descriptor is closed, because its number may then be reused for another file.
  func willClose(_ descriptor: CInt) { state.withLock { _ = $0.descriptors.remove(descriptor) } }

  // MARK: The other thread

  private func schedule(after delay: Duration) {
    thread.schedule(after: delay) { self.look() }
  }

  private func look() {
    let callbacks = callbacks.load(ordering: .relaxed)
    let next: Duration? = state.withLock { state in
      guard state.isPerforming else {
        state.isScheduled = false
        (state.looks, state.stuckSinceStop) = (nil, 0)
        return nil
      }
      let isSilent = state.seen.callbacks == callbacks
      let isSameCall = state.seen.performs == state.performs
      state.seen = (state.performs, callbacks)
      guard isSameCall else {
        (state.looks, state.stuckSinceStop) = (nil, 0)
        return limits.patience
      }
      let read = Self.bytesRead(from: state.descriptors)
      guard var looks = state.looks else {
        state.looks = Looks(read: read)
        return limits.interval
      }
      looks.add(read, isSilent: isSilent)
      state.looks = looks
      let isStuck = state.mustStop && isSilent && looks.reading.isEmpty
      state.stuckSinceStop = isStuck ? state.stuckSinceStop + 1 : 0
      for busy in looks.busy(limits, mustStop: state.mustStop) {
        if let peer = SocketAddress(ofPeerOf: busy) { state.shutDown.append(peer) }
        shutdown(busy, CInt(SHUT_RDWR))
        state.descriptors.remove(busy)
      }
      return limits.interval
    }
    if state.withLock({ $0.stuckSinceStop >= limits.stopped }) { return endProcess() }
    if let next { schedule(after: next) }
  }

  /// The number of bytes received from the network, minus the unread bytes in the socket.
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
}

extension StuckTurnGuard.Looks {
  fileprivate mutating func add(_ now: [CInt: Int64], isSilent: Bool) {
    let growing = now.filter { descriptor, bytes in read[descriptor].map { $0 < bytes } ?? false }.keys
    reading = Dictionary(uniqueKeysWithValues: growing.map { ($0, (reading[$0] ?? 0) + 1) })
    silent = Dictionary(
      uniqueKeysWithValues: growing.map { ($0, isSilent ? (silent[$0] ?? 0) + 1 : 0) })
    read = now
  }

  /// The sockets whose connections must be shut down.
  fileprivate func busy(_ limits: StuckTurnGuard.Limits, mustStop: Bool) -> [CInt] {
    let mostSilent = mustStop ? 1 : limits.silent
    return reading.keys.filter { silent[$0] ?? 0 >= mostSilent || reading[$0] ?? 0 >= limits.talking }
  }
}
