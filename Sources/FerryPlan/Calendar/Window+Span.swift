import FerryManifest

extension Budget.Window {
  /// The calendar window, in a time zone, that contains an instant.
  ///
  /// A day, week or month begins when the clocks first show its first midnight, or a later time if midnight
  /// is skipped. Therefore, a day on which clocks change may have 23 or 25 hours, and a day that a time zone
  /// skips has no window. A week begins on Monday (ISO 8601).
  ///
  /// An hour is an hour of real time, and begins when the clocks show a full hour; an hour that occurs twice
  /// is two windows. If the clocks do not change by full hours, a window ends at the change, so that this
  /// window or the next one is shorter. For example, on Lord Howe Island, where clocks change by half an
  /// hour:
  ///
  /// | window | from, UTC | length |
  /// |---|---|---|
  /// | 01:00 to 02:00 (+11:00) | 14:00 | 60 min |
  /// | 01:30 to 02:00 (+10:30) | 15:00 | 30 min |
  /// | 02:00 to 03:00 (+10:30) | 15:30 | 60 min |
  ///
  /// Windows cover all time without overlapping. The first and last windows are cut off at the ends of
  /// `Instant`'s range; `Instant.distantFuture` itself is the end of the last window.
  package func span(containing instant: Instant, in zone: CalendarZone) -> Range<Instant> {
    let second = instant.wholeSeconds
    let span =
      switch self {
      case .hour: zone.hour(around: second)
      case .day: zone.days(around: second, from: { $0 }, to: { $0.adding(days: 1) })
      case .week: zone.days(around: second, from: \.firstOfWeek, to: { $0.adding(days: 7) })
      case .month: zone.days(around: second, from: \.firstOfMonth, to: \.firstOfNextMonth)
      }
    return Instant(wholeSeconds: span.lowerBound)..<Instant(wholeSeconds: span.upperBound)
  }
}

extension CalendarZone {
  /// Returns the window that contains a time. The time and the window are in seconds since 1970.
  ///
  /// - Parameters:
  ///   - first: returns the first day of the window that contains a day.
  ///   - next: returns the first day of the next window.
  fileprivate func days(
    around second: Int, from first: (CivilDate) -> CivilDate, to next: (CivilDate) -> CivilDate
  ) -> Range<Int> {
    func start(_ date: CivilDate) -> Int { self.second(of: LocalTime(date: date)) }
    let shown = LocalTime(seconds: second + offset(ofPeriod: period(at: second)))
    var date = first(shown.date)
    var span = start(date)..<start(next(date))
    // If clocks are set back across midnight, they show yesterday again although today's window has begun.
    while span.upperBound <= second {
      date = next(date)
      span = span.upperBound..<start(next(date))
    }
    return span
  }

  fileprivate func hour(around second: Int) -> Range<Int> {
    let period = period(at: second)
    let offset = offset(ofPeriod: period)
    // The position of full hours in real time. A change by full hours does not affect it.
    func phase(_ period: Int) -> Int { self.offset(ofPeriod: period).dividedWithFloor(by: 3600).remainder }
    var lower = (second + offset).floorDivided(by: 3600) * 3600 - offset
    var upper = lower + 3600
    var before = period
    while start(ofPeriod: before) > lower {
      if phase(before - 1) != phase(period) { lower = start(ofPeriod: before) }
      before -= 1
    }
    var after = period
    while end(ofPeriod: after) < upper {
      if phase(after + 1) != phase(period) { upper = end(ofPeriod: after) }
      after += 1
    }
    return lower..<upper
  }
}
