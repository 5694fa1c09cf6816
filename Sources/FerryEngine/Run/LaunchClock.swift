import FerryPlan
import Foundation

/// Wall time at the launch's start, carried on by the monotonic clock: a wall clock that is set later
/// changes no interval of this launch.
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
    return min(Instant(wholeSeconds: time.tv_sec, nanoseconds: Int64(time.tv_nsec)), latest)
  }

  /// A century before the last moment that can be counted, in 2162: the longest duration of a manifest can be added to
  /// it. A clock that shows more is wrong, and counts as this.
  private static let latest = Instant.distantFuture.advanced(by: .seconds(-36_500 * 86_400))
}
