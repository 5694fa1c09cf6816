/// When a simulation's launches begin.
package enum LaunchSchedule: Sendable {
  /// One, which waits as long as there is something to wait for.
  case once
  /// At the moments of a cron expression; one that falls into a launch that still runs is left out.
  case cron(CronSchedule, CalendarZone)
  case moments([Instant])

  func next(after now: Instant, launches: Int, start: Instant) -> Instant? {
    switch self {
    case .once: launches == 0 ? start : nil
    case .cron(let schedule, let zone): schedule.next(after: now, in: zone)
    case .moments(let moments): moments.first { launches == 0 ? $0 >= now : $0 > now }
    }
  }
}
