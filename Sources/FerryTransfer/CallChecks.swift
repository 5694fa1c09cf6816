#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What the checks of one call to libcurl have found. `StuckTurnGuard` makes the checks.
///
/// A legitimate call can last for minutes: libcurl 7.88 reads up to 100 times from each of perhaps a thousand connections,
/// and ferry writes the data to a disk. What libcurl reads then reaches ferry. Therefore, only wasteful intervals are
/// counted, in which libcurl read much more than it passed to ferry. They are counted for each connection, and for the
/// call as a whole: several connections can take turns, so that each of them is read only for a short time.
struct CallChecks {
  /// The counters of a socket at a check.
  struct Sample {
    /// The number of bytes read since the socket was opened; `nil` if the system does not report it, as for a Unix domain
    /// socket.
    var read: Int64?
    /// The number of bytes that have arrived and were not read yet.
    var unread: Int64

    /// The number of bytes read since an earlier check; if it is unknown, a number above `slack` or 0.
    fileprivate func bytesRead(since earlier: Self, slack: Int64) -> Int64 {
      if let read, let before = earlier.read { return max(0, read - before) }
      // Only reading reduces the number of unread bytes. The reverse does not hold: if bytes arrive as fast as they are
      // read, several checks may be needed.
      return unread < earlier.unread ? slack + earlier.unread - unread : 0
    }
  }

  /// What libcurl did in an interval, apart from reading.
  struct Activity {
    /// Whether libcurl called one of ferry's functions.
    var hasCalledBack: Bool
    /// The number of bytes that these calls passed.
    var passed: Int64
  }

  /// Why the process must end.
  enum Hang {
    /// For some time, libcurl has neither read anything nor called one of ferry's functions.
    case idle
    /// libcurl is still working.
    case busy
  }

  private let limits: StuckTurnGuard.Limits
  private var samples: [CInt: Sample]
  /// The connections that were read in the last interval.
  private var reading: [CInt] = []
  /// Whether the last interval was wasteful.
  private var isWasteful = false
  /// The number of wasteful intervals in which a connection was read.
  private var wasteful: [CInt: Int] = [:]
  /// The number of wasteful intervals.
  private var wastefulOfCall = 0
  /// The number of intervals since the run was to stop.
  private var sinceStop = 0
  /// The number of consecutive intervals, since the run was to stop, in which libcurl did nothing.
  private var idleSinceStop = 0

  /// - Parameter samples: the counters of the open sockets at the first check of the call.
  init(_ samples: [CInt: Sample], _ limits: StuckTurnGuard.Limits) {
    self.samples = samples
    self.limits = limits
  }

  /// Adds an interval.
  ///
  /// - Parameter mustStop: whether the run is to stop.
  mutating func add(_ now: [CInt: Sample], _ activity: Activity, mustStop: Bool) {
    var read: [CInt: Int64] = [:]
    for (descriptor, sample) in now {
      guard let earlier = samples[descriptor] else { continue }
      let bytes = sample.bytesRead(since: earlier, slack: limits.slack)
      if bytes > 0 { read[descriptor] = bytes }
    }
    samples = now
    reading = Array(read.keys)
    // TLS and small chunks take additional bytes.
    isWasteful = read.values.reduce(0, +) > limits.slack + 2 * activity.passed
    if isWasteful {
      wastefulOfCall += 1
      for descriptor in reading { wasteful[descriptor, default: 0] += 1 }
    }
    guard mustStop else { return }
    sinceStop += 1
    idleSinceStop = reading.isEmpty && !activity.hasCalledBack ? idleSinceStop + 1 : 0
  }

  /// The connections that must be shut down.
  var stuck: [CInt] {
    let isOver = isWasteful && wastefulOfCall >= limits.wasteful + limits.rest
    if isOver || sinceStop >= limits.rest {
      // libcurl may read from any connection on which data waits, one after the other.
      return Array(Set(reading).union(samples.filter { $0.value.unread > 0 }.keys))
    }
    guard isWasteful else { return [] }
    let limit =
      sinceStop > 0 ? 1 : wastefulOfCall >= limits.wasteful ? limits.turn : limits.wasteful
    return reading.filter { wasteful[$0] ?? 0 >= limit }
  }

  /// Whether the call can be ended only with the process.
  var hang: Hang? {
    if idleSinceStop >= limits.idle { return .idle }
    return sinceStop >= limits.stopped ? .busy : nil
  }
}

extension CallChecks.Sample {
  /// `nil` if the system does not report the counters.
  init?(of descriptor: CInt) {
    let received = TCPInfo(of: descriptor)?.received
    var waiting: CInt = 0
    guard ioctl(descriptor, UInt(FIONREAD), &waiting) == 0 else { return nil }
    (read, unread) = (received.map { $0 - Int64(waiting) }, Int64(waiting))
  }
}
