import FerryPlan

/// Parses dates in header fields (RFC 9110, section 5.6.7). The day name is not checked.
package enum HTTPDate {
  /// Parses each of the three formats:
  ///
  /// - `Sun, 06 Nov 1994 08:49:37 GMT`, which senders must use
  /// - `Sunday, 06-Nov-94 08:49:37 GMT`; years from 69 are in the 20th century, as for strptime(3)
  /// - `Sun Nov  6 08:49:37 1994`, the format of asctime(3)
  package static func instant(_ text: some StringProtocol) -> Instant? {
    let parts = parts(of: text)
    switch parts.count {
    case 6: return fixdate(parts)
    case 5 where parts[0].utf8.count == 3 && parts[2].utf8.count <= 2:
      let day = parts[2].utf8.count == 1 ? "0" + parts[2] : parts[2]
      return instant(day: day, month: parts[1], year: parts[4], time: parts[3])
    case 4 where parts[0].utf8.count > 6 && parts[0].hasSuffix("day,") && parts[3] == "GMT":
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
      guard date.count == 3, date[2].utf8.count == 2 else { return nil }
      return instant(
        day: date[0], month: date[1], year: (date[2] < "69" ? "20" : "19") + date[2], time: parts[2])
    default: return nil
    }
  }

  /// Whether a text is a date in the only format that may be sent.
  static func isSendable(_ text: String) -> Bool { fixdate(parts(of: text)) != nil }

  /// The parts between spaces; empty if the text is too long or not ASCII.
  private static func parts(of text: some StringProtocol) -> [String] {
    guard text.utf8.count <= 64, text.utf8.allSatisfy({ $0 < 0x80 }) else { return [] }
    return text.split(separator: " ").map { String($0) }
  }

  private static func fixdate(_ parts: [String]) -> Instant? {
    guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT" else {
      return nil
    }
    return instant(day: parts[1], month: parts[2], year: parts[3], time: parts[4])
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func instant(day: String, month: String, year: String, time: String) -> Instant? {
    guard let month = months.firstIndex(of: month) else { return nil }
    var scan = DigitScanner("\(day) \(year) \(time)".utf8)
    guard let day = scan.number(digits: 2), scan.skip(" "), let year = scan.number(digits: 4), scan.skip(" "),
      let hour = scan.number(digits: 2), scan.skip(":"), let minute = scan.number(digits: 2), scan.skip(":"),
      let second = scan.number(digits: 2), scan.isAtEnd,
      hour < 24, minute < 60, second <= 60, let date = CivilDate(year: year, month: month + 1, day: day)
    else { return nil }
    return CalendarZone.utc.instant(of: LocalTime(date: date, hour: hour, minute: minute, second: second))
  }
}
