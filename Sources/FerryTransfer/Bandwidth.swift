import FerryPlan

/// A maximum rate that requests share, in each direction separately.
package final class TransferLimit: Sendable {
  /// All requests whose limits have the same name share one limit.
  package let name: String
  /// The limit in bytes per second at this time; `nil` for no limit.
  let bytesPerSecond: @Sendable () -> Int64?

  package init(name: String, bytesPerSecond: @escaping @Sendable () -> Int64?) {
    self.name = name
    self.bytesPerSecond = bytesPerSecond
  }
}

/// One direction of a limit: a token bucket whose tokens are bytes.
///
/// Requests wait in a queue, and each in turn gets the same number of bytes, so that all get the same share. A request
/// that transfers less than its share does not wait, and leaves the rest to the others.
struct BandwidthBucket {
  /// The bytes that may be granted; negative after more was transferred than granted.
  private(set) var available: Int64 = 0
  private var waiting: [TransferKey] = []
  private var next = 0
  private var filledAt: SuspendingClock.Instant?

  /// The bytes that each turn grants at a rate.
  static func turn(_ bytesPerSecond: Int64) -> Int64 { min(max(bytesPerSecond / 100, 1 << 10), 64 << 10) }

  var isWaitedFor: Bool { next < waiting.count }

  mutating func fill(_ bytesPerSecond: Int64, at now: SuspendingClock.Instant) {
    let limit = max(Self.turn(bytesPerSecond), bytesPerSecond / 5)
    guard let last = filledAt else {
      (filledAt, available) = (now, Self.turn(bytesPerSecond))
      return
    }
    let nanoseconds = last.duration(to: now).nanoseconds
    let new = Int64(clamping: Double(nanoseconds) * Double(bytesPerSecond) / 1e9)
    // Otherwise, the fractions of a byte would be lost.
    guard new > 0 else { return }
    (available, filledAt) = (min(available +| new, limit), now)
  }

  mutating func spend(_ count: Int64) { available = available +| -count }

  mutating func wait(_ key: TransferKey) { waiting.append(key) }

  /// Removes and returns the request whose turn it is; `nil` if no request waits.
  mutating func popFirst() -> TransferKey? {
    guard isWaitedFor else { return nil }
    defer {
      next += 1
      if next > 64, next * 2 > waiting.count {
        waiting.removeFirst(next)
        next = 0
      }
    }
    return waiting[next]
  }

  /// The time until a request can be granted its turn.
  func delay(_ bytesPerSecond: Int64) -> Duration {
    available > 0 ? .zero : .seconds(fraction: Double(1 - available) / Double(bytesPerSecond))
  }
}

/// A limit in a loop.
final class Bandwidth {
  enum Direction: CaseIterable { case sending, receiving }

  private let limit: TransferLimit
  /// `nil` for no limit.
  private(set) var bytesPerSecond: Int64?
  private var readAt: SuspendingClock.Instant?
  private var buckets = ByDirection(sending: BandwidthBucket(), receiving: BandwidthBucket())

  /// The interval at which the limit is determined again.
  private static let interval = Duration.seconds(1)

  init(_ limit: TransferLimit, at now: SuspendingClock.Instant) {
    self.limit = limit
    fill(at: now)
  }

  subscript(direction: Direction) -> BandwidthBucket {
    get { buckets[direction] }
    set { buckets[direction] = newValue }
  }

  func fill(at now: SuspendingClock.Instant) {
    if readAt.map({ $0.duration(to: now) >= Self.interval }) ?? true {
      (readAt, bytesPerSecond) = (now, limit.bytesPerSecond().map { max(1, $0) })
    }
    guard let bytesPerSecond else { return }
    for direction in Direction.allCases { buckets[direction].fill(bytesPerSecond, at: now) }
  }

  /// Grants turns. Calls `resume` with each request and the bytes that it may transfer; it returns `false` if the
  /// request has ended, so that its turn remains for others.
  func grant(_ direction: Direction, _ resume: (TransferKey, Int64) -> Bool) {
    // A request that needs several turns waits again; the number of turns is bounded by the bytes.
    while self[direction].available > 0 || bytesPerSecond == nil, let key = self[direction].popFirst() {
      let turn = bytesPerSecond.map(BandwidthBucket.turn) ?? 0
      if resume(key, turn) { self[direction].spend(turn) }
    }
  }

  /// The time until the next turn; `nil` if no request waits.
  var delay: Duration? {
    let waiting = Direction.allCases.map { buckets[$0] }.filter(\.isWaitedFor)
    guard !waiting.isEmpty else { return nil }
    guard let bytesPerSecond else { return .zero }
    return min(waiting.map { $0.delay(bytesPerSecond) }.min() ?? .zero, Self.interval)
  }
}

/// What a request may transfer under one limit.
struct BandwidthCredit {
  let bandwidth: Bandwidth
  private var bytes = ByDirection<Int64>(sending: 0, receiving: 0)
  /// The directions in which the request waits for its turn.
  var isWaiting: Set<Bandwidth.Direction> = []

  init(_ bandwidth: Bandwidth) { self.bandwidth = bandwidth }

  /// The bytes that may be transferred; negative if too many were transferred.
  subscript(direction: Bandwidth.Direction) -> Int64 {
    get { bytes[direction] }
    set { bytes[direction] = newValue }
  }
}

/// A value for each direction.
private struct ByDirection<Value> {
  var sending: Value
  var receiving: Value

  subscript(direction: Bandwidth.Direction) -> Value {
    get {
      switch direction {
      case .sending: sending
      case .receiving: receiving
      }
    }
    set {
      switch direction {
      case .sending: sending = newValue
      case .receiving: receiving = newValue
      }
    }
  }
}
