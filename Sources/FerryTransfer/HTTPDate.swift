import FerryPlan

/// Parses dates in header fields.
package enum HTTPDate {
  /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7, IMF-fixdate). The day name is not checked.
  package static func instant(_ text: some StringProtocol) -> Instant? {
    guard text.utf8.count <= 64, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
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
      hour < 24, minute < 60, second <= 60, let date = CivilDate(year: year, month: month + 1, day: day)
    else { return nil }
    return CalendarZone.utc.instant(of: LocalTime(date: date, hour: hour, minute: minute, second: second))
  }
}
