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
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
