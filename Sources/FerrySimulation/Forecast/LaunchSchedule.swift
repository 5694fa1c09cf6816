import FerryPlan

/// The times at which the launches of a simulation begin.
package enum LaunchSchedule: Sendable {
  /// One launch, which waits as long as waiting can make progress.
  case once
  /// Launches start at the times of a cron expression. A launch is omitted if the previous one is still
  /// running.
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
