import CFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The schedule of a bandwidth limit: for each direction, the time up to which turns have been taken. Each turn
/// of a request takes the next free time, so that the turns of all requests follow one another at the limit's rate.
///
/// Several processes can share the memory of a schedule. Their requests then wait in one queue, without locks: if
/// a process ends, only the turns that its requests were waiting for remain unused.
///
/// The memory is accessed only with atomic operations, hence `@unchecked Sendable`.
package final class BandwidthClock: @unchecked Sendable {
  enum Direction: Int, CaseIterable { case sending, receiving }

  /// Unused time that can still be taken later. It makes up for late wake-ups.
  static let burst = Duration.milliseconds(200)
  /// The longest queue, for example of a small file at 1 byte per second. A time beyond the end of this queue
  /// was not written since the system started.
  static let horizon = Duration.seconds(86_400)

  private let ends: UnsafeMutablePointer<Int64>
  /// The owner of the memory; `nil` if it belongs to this object.
  private let owner: AnyObject?
  private let origin: (instant: SuspendingClock.Instant, nanoseconds: Int64)

  /// A schedule of this process alone, whose first turn is due at once.
  init(at now: SuspendingClock.Instant) {
    ends = .allocate(capacity: Direction.allCases.count)
    owner = nil
    origin = Self.origin
    ends.initialize(repeating: 0, count: Direction.allCases.count)
    let start = nanoseconds(at: now)
    ends.update(repeating: start, count: Direction.allCases.count)
  }

  /// - Parameters:
  ///   - ends: two times in nanoseconds of CLOCK_MONOTONIC, for sending and for receiving.
  ///   - owner: keeps the memory alive.
  package init(sharing ends: UnsafeMutablePointer<Int64>, of owner: AnyObject) {
    self.ends = ends
    self.owner = owner
    origin = Self.origin
  }

  deinit { if owner == nil { ends.deallocate() } }

  /// Takes the next free time.
  ///
  /// - Returns: when the turn is due, in nanoseconds of CLOCK_MONOTONIC.
  func reserve(_ cost: Int64, _ direction: Direction, at now: SuspendingClock.Instant) -> Int64 {
    ferry_reserve(
      ends + direction.rawValue, nanoseconds(at: now), cost, Self.burst.nanoseconds, Self.horizon.nanoseconds)
  }

  /// Returns time that was taken but not used.
  func giveBack(_ cost: Int64, _ direction: Direction) { ferry_give_back(ends + direction.rawValue, cost) }

  func nanoseconds(at now: SuspendingClock.Instant) -> Int64 {
    origin.nanoseconds + origin.instant.duration(to: now).nanoseconds
  }

  /// One time on both clocks. SuspendingClock is CLOCK_MONOTONIC, but does not show its value.
  private static var origin: (instant: SuspendingClock.Instant, nanoseconds: Int64) {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return (.now, Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
