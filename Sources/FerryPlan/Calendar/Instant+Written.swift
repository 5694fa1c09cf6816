extension Instant {
  /// Reads a date and time of RFC 3339 (§5.6), with any fraction and any offset; a space may stand for the
  /// `T`.
  ///
  /// Saturates at the ends of the range; a leap second (60) counts as the next minute's first.
  /// - Returns: `nil` for anything else, such as a day that does not exist.
  package init?(rfc3339 text: some StringProtocol) {
    var scan = DigitScanner(text.utf8)
    guard let written = WrittenTime(&scan), written.hasSeconds, let offset = written.offset, scan.isAtEnd
    else { return nil }
    self.init(second: written.time.seconds - offset, nanoseconds: written.nanoseconds)
  }

  /// Reads a time as people write it, `2026-03-29T10:00`: as `init(rfc3339:)`, but without seconds and
  /// offset where they are not given.
  ///
  /// - Parameter zone: counts where the text has no offset. A time that the zone leaves out is the moment
  ///   at which its clocks are set, one that comes twice is its first.
  package init?(written text: some StringProtocol, in zone: CalendarZone) {
    var scan = DigitScanner(text.utf8)
    guard let written = WrittenTime(&scan), scan.isAtEnd else { return nil }
    let second = written.offset.map { written.time.seconds - $0 } ?? zone.second(of: written.time)
    self.init(second: second, nanoseconds: written.nanoseconds)
  }

  private init(second: Int, nanoseconds: Int64) {
    self = Instant(nanoseconds: 0).advanced(by: .seconds(second) + .nanoseconds(nanoseconds))
  }
}

/// What a text tells of a moment.
private struct WrittenTime {
  var time: LocalTime
  var hasSeconds = false
  /// A fraction of a second.
  var nanoseconds: Int64 = 0
  /// In seconds east of UTC.
  var offset: Int?

  init?(_ scan: inout DigitScanner) {
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
  }
}
