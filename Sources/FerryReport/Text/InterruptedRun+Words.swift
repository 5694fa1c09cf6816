import FerryPlan

extension InterruptedRun {
  /// A description such as `run R began 2026-11-23T08:05:15Z as process 9589, which no longer exists`.
  ///
  /// - Parameter zone: the time zone in which the time is shown.
  func words(in zone: CalendarZone) -> String {
    "run \(run) began \(ReasonText.moment(startedAt, in: zone)) as process \(pid), which no longer exists"
  }
}
