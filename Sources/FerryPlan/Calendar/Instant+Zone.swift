extension Instant {
  /// RFC 3339 with the time zone's offset, rounded down to the second: `2026-03-29T00:00:00+01:00`, and
  /// `2026-03-29T00:00:00Z` if the offset is zero.
  ///
  /// RFC 3339 does not allow seconds in an offset. If the time zone's offset has seconds (historical local
  /// mean time), the time is written with the offset truncated to minutes, so that the instant is correct.
  package func rfc3339(in zone: CalendarZone) -> String {
    let minutes = zone.offset(at: self) / 60
    let time = LocalTime(seconds: wholeSeconds + minutes * 60)
    guard minutes != 0 else { return "\(time)Z" }
    let distance = abs(minutes)
    return
      "\(time)\(minutes < 0 ? "-" : "+")\((distance / 60).padded(to: 2)):\((distance % 60).padded(to: 2))"
  }

  /// The fields of a crontab line that runs at this time, each year: `30 4 29 3 *`.
  ///
  /// The time is rounded up to a whole minute. If clocks are set back and a time occurs twice, cron uses the
  /// first occurrence.
  package func cronFields(in zone: CalendarZone) -> String {
    let (whole, rest) = nanoseconds.dividedWithFloor(by: 1_000_000_000)
    let second = Int(whole) + (rest > 0 ? 1 : 0)
    func shown(_ second: Int) -> LocalTime {
      LocalTime(seconds: second + zone.offset(ofPeriod: zone.period(at: second)))
    }
    // The instant is rounded, not the local time: the minute after 01:59 may be 03:00.
    let ahead = shown(second).roundedUpToMinute.seconds - shown(second).seconds
    let time = shown(second + ahead).roundedUpToMinute
    return "\(time.minute) \(time.hour) \(time.date.day) \(time.date.month) *"
  }
}
