extension CronSchedule {
  /// The next time after an instant at which the line runs.
  ///
  /// `nil` if no time comes before the end of `Instant`'s range, as for the 30th of February.
  ///
  /// When clocks change, the behavior is as documented in cron(8) of Vixie cron:
  ///
  /// - A line with a fixed minute and hour (neither field begins with `*`) runs once for each of its times.
  ///   If a time is skipped, the line runs at the time when the clocks are set forward. If a time occurs
  ///   twice, it runs only the first time. Several times that coincide result in a single run.
  /// - A line with a wildcard follows the clock: it does not run at skipped times, and runs twice at times
  ///   that occur twice.
  ///
  /// Vixie cron does this for changes of less than three hours, and treats larger changes as corrections of
  /// the clock. Here, all changes come from the time zone.
  ///
  /// | expression | Europe/Berlin, 2026 | runs |
  /// |---|---|---|
  /// | `30 2 * * *` | 29 March, 02:00 is 03:00 | 03:00 |
  /// | `30 2 * * *` | 25 October, 03:00 is 02:00 | the first 02:30 |
  /// | `0 * * * *` | 25 October | both 02:00 |
  /// | `*/30 2 * * *` | 29 March | not at all |
  package func next(after instant: Instant, in zone: CalendarZone) -> Instant? {
    let second = instant.wholeSeconds
    let last = Instant.distantFuture.wholeSeconds
    let isFixed = !minutes.isWildcard && !hours.isWildcard
    let next =
      isFixed
      ? nextFixed(after: second, in: zone, through: last) : nextShown(after: second, in: zone, through: last)
    return next.map { Instant(wholeSeconds: $0) }
  }

  /// The first matching time that the clocks have not reached yet.
  private func nextFixed(after second: Int, in zone: CalendarZone, through last: Int) -> Int? {
    let reached = zone.latestTime(upTo: second).seconds
    let end = LocalTime(seconds: last + CalendarZone.largestOffset + 1)
    guard let time = time(from: LocalTime(seconds: reached + 1), before: end) else { return nil }
    let next = zone.second(of: time)
    return next <= last ? next : nil
  }

  /// The first instant at which the clocks show a matching time.
  private func nextShown(after second: Int, in zone: CalendarZone, through last: Int) -> Int? {
    var from = second + 1
    var period = zone.period(at: from)
    while from <= last {
      let offset = zone.offset(ofPeriod: period)
      let end = min(zone.end(ofPeriod: period), last + 1)
      if let time = time(from: LocalTime(seconds: from + offset), before: LocalTime(seconds: end + offset)) {
        return time.seconds - offset
      }
      from = end
      period += 1
    }
    return nil
  }

  /// The first matching time of a clock that never changes. Months and days that do not match are skipped as
  /// a whole, so a search through three centuries without a match takes about ten thousand steps.
  private func time(from start: LocalTime, before end: LocalTime) -> LocalTime? {
    let start = start.roundedUpToMinute
    var date = start.date
    var earliest = (hour: start.hour, minute: start.minute)
    while LocalTime(date: date) < end {
      if matches(date), let (hour, minute) = timeOfDay(from: earliest) {
        let time = LocalTime(date: date, hour: hour, minute: minute)
        return time < end ? time : nil
      }
      earliest = (0, 0)
      date = months.contains(date.month) ? date.adding(days: 1) : date.firstOfNextMonth
    }
    return nil
  }

  private func timeOfDay(from earliest: (hour: Int, minute: Int)) -> (hour: Int, minute: Int)? {
    if hours.contains(earliest.hour), let minute = minutes.first(from: earliest.minute) {
      return (earliest.hour, minute)
    }
    guard let hour = hours.first(from: earliest.hour + 1), let minute = minutes.first(from: 0) else {
      return nil
    }
    return (hour, minute)
  }
}
