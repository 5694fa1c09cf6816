import FerryPlan

/// A maximum rate that requests share, in each direction separately.
package final class TransferLimit: Sendable {
  /// All requests whose limits have the same name share one limit.
  package let name: String
  /// The limit in bytes per second at this time; `nil` for no limit.
  let bytesPerSecond: @Sendable () -> Int64?
  /// The schedule that this process shares with others; `nil` if only this process uses the limit.
  let clock: BandwidthClock?

  package init(
    name: String, clock: BandwidthClock? = nil, bytesPerSecond: @escaping @Sendable () -> Int64?
  ) {
    self.name = name
    self.clock = clock
    self.bytesPerSecond = bytesPerSecond
  }

  /// The same limit, with a schedule that this process shares with others.
  package func sharing(_ clock: BandwidthClock) -> TransferLimit {
    TransferLimit(name: name, clock: clock, bytesPerSecond: bytesPerSecond)
  }
}

/// The requests that wait for a limit in one direction.
///
/// Each request has at most one turn in the schedule, and each turn has the same number of bytes, so that all get the
/// same share. A request that transfers less than its share does not wait, and leaves the rest to the others.
struct BandwidthQueue {
  struct Turn {
    var key: TransferKey
    /// The bytes that it grants.
    fileprivate(set) var bytes: Int64
    /// The bytes that the request sends at once.
    fileprivate var least: Int64
    /// The time at which the turn is due, and its duration, in nanoseconds.
    fileprivate var due: Int64
    fileprivate var cost: Int64
  }

  private let clock: BandwidthClock
  private let direction: BandwidthClock.Direction
  private var waiting: [Turn] = []
  private var next = 0

  init(_ clock: BandwidthClock, _ direction: BandwidthClock.Direction) {
    (self.clock, self.direction) = (clock, direction)
  }

  /// The bytes that each turn grants at a rate.
  static func turn(_ bytesPerSecond: Int64) -> Int64 { min(max(bytesPerSecond / 100, 1 << 10), 64 << 10) }

  /// The time that bytes take at a rate, in nanoseconds.
  static func cost(_ bytes: Int64, _ bytesPerSecond: Int64) -> Int64 {
    Int64(clamping: (Double(bytes) * 1e9 / Double(bytesPerSecond)).rounded(.up))
  }

  var isWaitedFor: Bool { next < waiting.count }

  /// Takes a turn for a request. Without a rate, the turn is due at once.
  ///
  /// - Parameter least: the bytes that the request sends at once, if they are more than a turn.
  mutating func wait(
    _ key: TransferKey, atLeast least: Int64 = 0, _ bytesPerSecond: Int64?, at now: SuspendingClock.Instant
  ) {
    guard let bytesPerSecond else {
      let due = clock.nanoseconds(at: now)
      return waiting.append(Turn(key: key, bytes: 0, least: least, due: due, cost: 0))
    }
    let bytes = max(Self.turn(bytesPerSecond), least)
    let cost = Self.cost(bytes, bytesPerSecond)
    let due = clock.reserve(cost, direction, at: now)
    waiting.append(Turn(key: key, bytes: bytes, least: least, due: due, cost: cost))
  }

  /// Replaces the turns of all waiting requests, because the rate has changed.
  mutating func restart(_ bytesPerSecond: Int64?, at now: SuspendingClock.Instant) {
    let turns = waiting[next...]
    for turn in turns { clock.giveBack(turn.cost, direction) }
    (waiting, next) = ([], 0)
    for turn in turns { wait(turn.key, atLeast: turn.least, bytesPerSecond, at: now) }
  }

  /// Removes and returns the turn that is due; `nil` if there is none.
  mutating func popFirst(at now: SuspendingClock.Instant) -> Turn? {
    guard isWaitedFor, waiting[next].due <= clock.nanoseconds(at: now) else { return nil }
    defer {
      next += 1
      if next > 64, next * 2 > waiting.count {
        waiting.removeFirst(next)
        next = 0
      }
    }
    return waiting[next]
  }

  /// Counts bytes that were transferred without a turn or, if negative, bytes of a turn that were not transferred.
  func spend(_ bytes: Int64, _ bytesPerSecond: Int64?, at now: SuspendingClock.Instant) {
    guard let bytesPerSecond else { return }
    if bytes > 0 {
      _ = clock.reserve(Self.cost(bytes, bytesPerSecond), direction, at: now)
    } else if bytes < 0 {
      clock.giveBack(Self.cost(-bytes, bytesPerSecond), direction)
    }
  }

  /// The time until the next turn is due; `nil` if no request waits.
  func delay(at now: SuspendingClock.Instant) -> Duration? {
    guard isWaitedFor else { return nil }
    return .nanoseconds(max(0, waiting[next].due - clock.nanoseconds(at: now)))
  }
}

/// A limit in a loop.
final class Bandwidth {
  typealias Direction = BandwidthClock.Direction

  private let limit: TransferLimit
  /// `nil` for no limit.
  private(set) var bytesPerSecond: Int64?
  private var readAt: SuspendingClock.Instant
  private var queues: [BandwidthQueue]

  /// The interval at which the limit is determined again.
  private static let interval = Duration.seconds(1)

  init(_ limit: TransferLimit, at now: SuspendingClock.Instant) {
    self.limit = limit
    readAt = now
    bytesPerSecond = limit.bytesPerSecond().map { max(1, $0) }
    let clock = limit.clock ?? BandwidthClock(at: now)
    queues = Direction.allCases.map { BandwidthQueue(clock, $0) }
  }

  /// Reads the limit, unless it was read within the last second.
  func update(at now: SuspendingClock.Instant) {
    guard readAt.duration(to: now) >= Self.interval else { return }
    readAt = now
    let rate = limit.bytesPerSecond().map { max(1, $0) }
    guard rate != bytesPerSecond else { return }
    bytesPerSecond = rate
    for index in queues.indices { queues[index].restart(rate, at: now) }
  }

  func wait(_ key: TransferKey, atLeast least: Int64, _ direction: Direction) {
    queues[direction.rawValue].wait(key, atLeast: least, bytesPerSecond, at: .now)
  }

  /// Counts bytes that were transferred without a turn or, if negative, bytes of a turn that were not transferred.
  func spend(_ bytes: Int64, _ direction: Direction) {
    queues[direction.rawValue].spend(bytes, bytesPerSecond, at: .now)
  }

  /// Grants the turns that are due. Calls `resume` with each request and the bytes that it may transfer; `resume`
  /// returns `false` if the request has ended, so that its turn remains for others.
  func grant(
    _ direction: Direction, at now: SuspendingClock.Instant, _ resume: (TransferKey, Int64) -> Bool
  ) {
    // A request that needs several turns waits again; the number of turns is bounded by the bytes.
    while let turn = queues[direction.rawValue].popFirst(at: now) {
      if !resume(turn.key, turn.bytes) { spend(-turn.bytes, direction) }
    }
  }

  /// The time until the next turn, or until the limit is read again if that is earlier; `nil` if no request
  /// waits.
  func delay(at now: SuspendingClock.Instant) -> Duration? {
    queues.compactMap { $0.delay(at: now) }.min().map { min($0, Self.interval) }
  }
}

/// The bytes that a request may transfer under one limit.
struct BandwidthCredit {
  let bandwidth: Bandwidth
  private var bytes: [Int64] = Bandwidth.Direction.allCases.map { _ in 0 }
  /// The directions in which the request waits for its turn.
  var isWaiting: Set<Bandwidth.Direction> = []

  init(_ bandwidth: Bandwidth) { self.bandwidth = bandwidth }

  /// The bytes that may be transferred; negative if too many were transferred.
  subscript(direction: Bandwidth.Direction) -> Int64 {
    get { bytes[direction.rawValue] }
    set { bytes[direction.rawValue] = newValue }
  }
}
