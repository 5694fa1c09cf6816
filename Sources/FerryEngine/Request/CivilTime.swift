import FerryPlan

/// Dates of the Gregorian calendar, in UTC, as RFC 3339 and RFC 9110 write them.
enum CivilTime {
  /// Whole seconds, rounded down: `2026-11-21T06:03:45Z`.
  static func rfc3339(nanoseconds: Int64) -> String {
    let seconds = Int(nanoseconds.flooredQuotient(1_000_000_000))
    let days = seconds.flooredQuotient(86_400)
    let second = seconds - days * 86_400
    let date = civil(days: days)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(date.year)-\(two(date.month))-\(two(date.day))"
      + "T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
  }

  /// RFC 3339 §5.6, with any fraction and offset; `nil` for what is no such date.
  static func instant(rfc3339 text: some StringProtocol) -> Instant? {
    var scan = DigitScanner(text.utf8)
    guard let year = scan.number(digits: 4), scan.skip("-"), let month = scan.number(digits: 2),
      scan.skip("-"),
      let day = scan.number(digits: 2), scan.skip("T") || scan.skip("t") || scan.skip(" "),
      let hour = scan.number(digits: 2), scan.skip(":"), let minute = scan.number(digits: 2), scan.skip(":"),
      let second = scan.number(digits: 2)
    else { return nil }
    var fraction: Int64 = 0
    if scan.skip(".") {
      guard let nanoseconds = scan.fraction() else { return nil }
      fraction = nanoseconds
    }
    var offset = 0
    if !(scan.skip("Z") || scan.skip("z")) {
      let isEast = scan.skip("+")
      guard isEast || scan.skip("-"), let hours = scan.number(digits: 2), scan.skip(":"),
        let minutes = scan.number(digits: 2), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (isEast ? 60 : -60)
    }
    guard scan.isAtEnd,
      let seconds = seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return Instant(nanoseconds: 0).advanced(by: .seconds(seconds - offset) + .nanoseconds(fraction))
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7, IMF-fixdate); the day's name is not checked.
  static func instant(httpDate text: some StringProtocol) -> Instant? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[0].count == 4, parts[0].hasSuffix(","), parts[5] == "GMT" else {
      return nil
    }
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard let month = names.firstIndex(where: { $0 == parts[2] }) else { return nil }
    var scan = DigitScanner("\(parts[1]) \(parts[3]) \(parts[4])".utf8)
    guard let day = scan.number(digits: 2), scan.skip(" "), let year = scan.number(digits: 4), scan.skip(" "),
      let hour = scan.number(digits: 2), scan.skip(":"), let minute = scan.number(digits: 2), scan.skip(":"),
      let second = scan.number(digits: 2), scan.isAtEnd,
      let seconds = seconds(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    return Instant(nanoseconds: 0).advanced(by: .seconds(seconds))
  }

  /// Since 1970; a leap second (60) counts as the next minute's first.
  private static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
    guard (1...12).contains(month), day >= 1, hour < 24, minute < 60, second <= 60 else { return nil }
    let days = days(year: year, month: month, day: day)
    // A day that its month does not have comes back as one of the next month.
    guard civil(days: days) == (year, month, day) else { return nil }
    return days * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, eras have 400.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredQuotient(400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension FixedWidthInteger {
  /// Division that rounds towards negative infinity.
  fileprivate func flooredQuotient(_ divisor: Self) -> Self {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
