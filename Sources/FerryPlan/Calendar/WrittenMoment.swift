/// A date and time as written by a person, such as `2026-03-29T10:00`: RFC 3339 (§5.6), with optional
/// seconds and offset.
///
/// A space is accepted instead of the `T`; a leap second (60) is treated as the first second of the next
/// minute.
package struct WrittenMoment {
  private var time: LocalTime
  private(set) var hasSeconds = false
  /// A fraction of a second.
  private var nanoseconds: Int64 = 0
  /// The offset in seconds east of UTC.
  private(set) var offset: Int?

  /// The range of an `Instant`, for error messages.
  package static let range = "1677-09-21T00:12:44Z to 2262-04-11T23:47:16Z"

  /// - Returns: `nil` for any other text, such as a day that does not exist.
  package init?(_ text: some StringProtocol) {
    var scan = DigitScanner(text.utf8)
    guard let year = scan.number(digits: 4), scan.skip("-"), let month = scan.number(digits: 2),
      scan.skip("-"),
      let day = scan.number(digits: 2), let date = CivilDate(year: year, month: month, day: day),
      scan.skip("T") || scan.skip("t") || scan.skip(" "),
      let hour = scan.number(digits: 2), hour < 24, scan.skip(":"),
      let minute = scan.number(digits: 2), minute < 60
    else { return nil }
    time = LocalTime(date: date, hour: hour, minute: minute)
    if scan.skip(":") {
      guard let second = scan.number(digits: 2), second <= 60 else { return nil }
      time = LocalTime(date: date, hour: hour, minute: minute, second: second)
      hasSeconds = true
      if scan.skip(".") {
        guard let fraction = scan.fraction() else { return nil }
        nanoseconds = fraction
      }
    }
    if scan.skip("Z") || scan.skip("z") {
      offset = 0
    } else if let isEast = scan.skip("+") ? true : scan.skip("-") ? false : nil {
      guard let hours = scan.number(digits: 2), hours < 24, scan.skip(":"),
        let minutes = scan.number(digits: 2), minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (isEast ? 60 : -60)
    }
    guard scan.isAtEnd else { return nil }
  }

  /// The instant, or the nearest one that an `Instant` can represent.
  ///
  /// - Parameter zone: used if the string has no offset. For a time that the zone skips, the result is the
  ///   time at which its clocks are set; for a time that occurs twice, the result is the first occurrence.
  package func nearest(in zone: CalendarZone) -> Instant {
    Instant(wholeSeconds: second(in: zone), nanoseconds: nanoseconds)
  }

  /// The instant; `nil` if an `Instant` cannot represent it.
  ///
  /// - Parameter zone: as for `nearest`.
  package func moment(in zone: CalendarZone) -> Instant? {
    let nearest = nearest(in: zone)
    return nearest.wholeSeconds == second(in: zone) ? nearest : nil
  }

  private func second(in zone: CalendarZone) -> Int {
    offset.map { time.seconds - $0 } ?? zone.second(of: time)
  }
}
