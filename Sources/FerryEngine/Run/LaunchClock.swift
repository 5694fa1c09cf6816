import FerryPlan
import Foundation

/// The wall time at the start of the launch, advanced by the monotonic clock. Intervals of this launch do
/// not change if the wall clock is set.
package struct LaunchClock: Sendable {
  private let start: Instant
  private let monotonicStart: ContinuousClock.Instant

  package init() {
    start = Self.wallTime
    monotonicStart = .now
  }

  package var now: Instant { start.advanced(by: monotonicStart.duration(to: .now)) }

  package static var wallTime: Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return min(max(earliest, Instant(wholeSeconds: time.tv_sec, nanoseconds: Int64(time.tv_nsec))), latest)
  }

  /// 1970, at which the scheduler's time begins. A clock that shows an earlier time is wrong, and is replaced by this time.
  private static let earliest = Instant(wholeSeconds: 0, nanoseconds: 0)

  /// A century before the latest representable instant: a date in 2162, to which the longest duration of a
  /// manifest can be added. A clock that shows a later time is wrong, and is replaced by this time.
  private static let latest = Instant.distantFuture.advanced(by: .seconds(-36_500 * 86_400))
}
