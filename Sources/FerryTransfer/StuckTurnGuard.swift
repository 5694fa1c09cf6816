import FerryProcess
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Shuts down connections whose peers keep libcurl from returning.
///
/// While libcurl reads certain data, it returns only when the socket is empty: HTTP/2 frames without content,
/// the body of a proxy's 407 response to CONNECT, and TLS records without data. A peer that sends such data
/// endlessly would prevent the run from handling its time limits and signals. Therefore, another thread
/// checks long calls to libcurl once a second. It shuts down a connection from which libcurl has read in several
/// wasteful intervals of one call (`CallChecks`).
///
/// Several peers can take turns, so that libcurl reads from each of them only for a short time. Therefore, the wasteful
/// intervals of a call are also counted, whatever the connection. After too many of them, each connection may be read
/// only for `Limits.turn` of them, and finally none.
///
/// A call also does not return while a library waits for something else: Kerberos for its key distribution center, or the
/// kernel for the file system of a file. This cannot be interrupted. If the run is to stop and such a call
/// does not return, the guard ends the process.
///
/// Linux reports the number of bytes read from a TCP socket. For a Unix domain socket, and on other systems, the guard
/// only sees that the number of unread bytes has decreased.
final class StuckTurnGuard: Sendable {
  struct Limits: Sendable {
    /// The time from the start of a libcurl call to the first check.
    var patience = Duration.seconds(2)
    /// The time between two checks of a call.
    var interval = Duration.seconds(1)
    /// The number of bytes that libcurl may read in an interval without passing them to ferry, such as those of header
    /// sections and of HTTP/2 frames, before the interval is wasteful.
    var slack: Int64 = 256 << 10
    /// The number of wasteful intervals of a call after which a connection that was read in all of them is shut down. The
    /// intervals need not be consecutive.
    var wasteful = 4
    /// The number of wasteful intervals for each connection in a call that has reached this limit. If the run is to
    /// stop, a connection is shut down after one.
    var turn = 2
    /// The number of further wasteful intervals after which all connections with unread data are shut down. If the run is
    /// to stop, it is the number of all intervals since then; it exceeds the 5 seconds that running requests have
    /// to complete.
    var rest = 6
    /// The number of consecutive intervals, after the run was to stop, in which a call neither reads from a connection nor
    /// invokes a callback, until the process ends.
    var idle = 20
    /// The number of all intervals of a call, after the run was to stop, until the process ends.
    var stopped = 60
  }

  private struct State {
    /// The open sockets.
    var descriptors: Set<CInt> = []
    var isPerforming = false
    /// The number of calls to libcurl.
    var performs: UInt64 = 0
    var isScheduled = false
    /// The values of `performs`, `callbacks` and `passed` at the last check.
    var seen: (performs: UInt64, callbacks: UInt64, passed: Int64) = (0, 0, 0)
    /// The checks of the current call.
    var checks: CallChecks?
    var shutDown: [SocketAddress] = []
    var mustStop = false
  }

  private let thread: PollThread
  private let limits: Limits
  private let endProcess: @Sendable (CallChecks.Hang) -> Void
  private let state = Mutex(State())
  /// The number of times that libcurl has called one of ferry's functions.
  private let callbacks = Atomic<UInt64>(0)
  /// The number of bytes that these calls passed.
  private let passed = Atomic<Int64>(0)

  /// - Parameters:
  ///   - thread: performs the checks.
  ///   - endProcess: called if a call does not return although the run is to stop.
  init(
    on thread: PollThread, limits: Limits = Limits(),
    endProcess: @escaping @Sendable (CallChecks.Hang) -> Void = { ProcessEnd.kill(because: message($0)) }
  ) {
    self.thread = thread
    self.limits = limits
    self.endProcess = endProcess
  }

  private static func message(_ hang: CallChecks.Hang) -> String {
    let why =
      switch hang {
      case .idle:
        "It does not read any data: it may be waiting for a Kerberos server, or for the file system of a file"
      case .busy: "It still reads or writes data: a server may be sending endlessly, or a disk may be slow"
      }
    return "ferry: a call to libcurl does not return, although the run is to stop. \(why). "
      + "The process ends as if it had been killed; the next run continues"
  }

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
  ///
  /// - Parameter passed: the number of bytes of content that the call passes in either direction. The bytes of header
  ///   fields do not count: with HPACK, a server can produce many of them from few.
  func didCallBack(passing passed: Int = 0) {
    callbacks.add(1, ordering: .relaxed)
    self.passed.add(Int64(passed), ordering: .relaxed)
  }

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
    let (callbacks, passed) = (callbacks.load(ordering: .relaxed), passed.load(ordering: .relaxed))
    let next: Next = state.withLock { state in
      guard state.isPerforming else {
        state.isScheduled = false
        state.checks = nil
        return .nothing
      }
      let activity = CallChecks.Activity(
        hasCalledBack: state.seen.callbacks != callbacks, passed: passed - state.seen.passed)
      let isSameCall = state.seen.performs == state.performs
      state.seen = (state.performs, callbacks, passed)
      guard isSameCall else {
        state.checks = nil
        return .look(after: limits.patience)
      }
      let samples = Self.samples(of: state.descriptors)
      guard var checks = state.checks else {
        state.checks = CallChecks(samples, limits)
        return .look(after: limits.interval)
      }
      checks.add(samples, activity, mustStop: state.mustStop)
      state.checks = checks
      for stuck in checks.stuck {
        if let peer = SocketAddress(ofPeerOf: stuck) { state.shutDown.append(peer) }
        shutdown(stuck, CInt(SHUT_RDWR))
        state.descriptors.remove(stuck)
      }
      return checks.hang.map(Next.end) ?? .look(after: limits.interval)
    }
    switch next {
    case .nothing: break
    case .look(let delay): schedule(after: delay)
    case .end(let hang): endProcess(hang)
    }
  }

  private enum Next {
    case nothing
    case look(after: Duration)
    case end(CallChecks.Hang)
  }

  private static func samples(of descriptors: Set<CInt>) -> [CInt: CallChecks.Sample] {
    var samples: [CInt: CallChecks.Sample] = [:]
    for descriptor in descriptors { samples[descriptor] = CallChecks.Sample(of: descriptor) }
    return samples
  }
}
