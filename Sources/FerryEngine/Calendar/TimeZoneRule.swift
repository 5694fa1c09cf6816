import FerryPlan

/// A rule for the offsets of a time zone in every year, such as `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX.1-2017 §8.3, `TZ`;
/// RFC 9636 §3.3.1).
struct TimeZoneRule {
  /// The offset of standard time, in seconds east of UTC.
  private let standard: Int
  /// Daylight saving time; `nil` if there is none.
  private var daylight: (offset: Int, begin: Day, end: Day)?

  /// A day of each year, and a local time on it.
  fileprivate struct Day {
    enum Form {
      /// A weekday (0 is Sunday) of a week of a month. Week 5 is the last one.
      case weekday(month: Int, week: Int, weekday: Int)
      /// The day of the year from 1 to 365. February 29 is not counted.
      case withoutLeapDay(Int)
      /// The day of the year from 0 to 365.
      case withLeapDay(Int)
    }
    var form: Form
    /// The local time in seconds after midnight. It may be negative, or more than a day.
    var time: Int
  }

  /// `nil` if the text is not a rule.
  init?(_ text: [UInt8]) {
    var scanner = Scanner(text)
    guard scanner.skipName(), let west = scanner.time() else { return nil }
    standard = -west
    guard !scanner.isAtEnd else { return }
    guard scanner.skipName() else { return nil }
    var offset = standard + 3_600
    if !scanner.isAt(",") {
      guard let west = scanner.time() else { return nil }
      offset = -west
    }
    guard scanner.skip(","), let begin = scanner.day(), scanner.skip(","), let end = scanner.day(),
      scanner.isAtEnd
    else { return nil }
    daylight = (offset, begin, end)
  }

  /// The offset in seconds east of UTC.
  ///
  /// - Parameter second: seconds since 1970.
  func offset(at second: Int) -> Int {
    guard let daylight else { return standard }
    let local = second + standard
    let midnight = local - (local % 86_400 + 86_400) % 86_400
    let year = CivilDate(daysSinceEpoch: midnight / 86_400).year
    let begin = daylight.begin.second(in: year) - standard
    let end = daylight.end.second(in: year) - daylight.offset
    // In the southern hemisphere, daylight saving time begins in one year and ends in the next.
    let isDaylight = begin < end ? begin <= second && second < end : second < end || begin <= second
    return isDaylight ? daylight.offset : standard
  }
}

extension TimeZoneRule.Day {
  /// The local time in a year, in seconds since 1970 as if it were UTC.
  fileprivate func second(in year: Int) -> Int { (day(in: year) * 86_400) + time }

  private func day(in year: Int) -> Int {
    guard let newYear = CivilDate(year: year, month: 1, day: 1) else { return 0 }
    switch form {
    case .weekday(let month, let week, let weekday):
      guard let first = CivilDate(year: year, month: month, day: 1) else { return 0 }
      // CivilDate's Sunday is 7.
      var day = 1 + (weekday - first.weekday % 7 + 7) % 7 + (week - 1) * 7
      while day > first.daysInMonth { day -= 7 }
      return first.daysSinceEpoch + day - 1
    case .withoutLeapDay(let number):
      let isLeap = CivilDate(year: year, month: 2, day: 29) != nil
      return newYear.daysSinceEpoch + number - 1 + (isLeap && number >= 60 ? 1 : 0)
    case .withLeapDay(let number): return newYear.daysSinceEpoch + number
    }
  }
}

/// Reads the parts of a rule from left to right.
extension TimeZoneRule {
  private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    func isAt(_ letter: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: letter) }

    mutating func skip(_ letter: Unicode.Scalar) -> Bool {
      guard isAt(letter) else { return false }
      rest = rest.dropFirst()
      return true
    }

    /// Skips an abbreviation, such as `CET` or `<+0330>`.
    mutating func skipName() -> Bool {
      if skip("<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
        rest = rest[(end + 1)...]
        return true
      }
      let letters = rest.prefix {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
      }
      rest = rest[letters.endIndex...]
      return letters.count >= 3
    }

    mutating func number() -> Int? {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      guard 1...3 ~= digits.count else { return nil }
      rest = rest[digits.endIndex...]
      return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Reads `[+-]hh[:mm[:ss]]` as seconds.
    mutating func time() -> Int? {
      let isNegative = skip("-")
      if !isNegative { _ = skip("+") }
      guard let hours = number(), hours <= 167 else { return nil }
      var seconds = hours * 3_600
      for unit in [60, 1] where skip(":") {
        guard let count = number(), count <= 59 else { return nil }
        seconds += count * unit
      }
      return isNegative ? -seconds : seconds
    }

    mutating func day() -> Day? {
      guard let form = form() else { return nil }
      var time = 2 * 3_600
      if skip("/") {
        guard let written = self.time() else { return nil }
        time = written
      }
      return Day(form: form, time: time)
    }

    private mutating func form() -> Day.Form? {
      if skip("M") {
        guard let month = number(), 1...12 ~= month, skip("."), let week = number(), 1...5 ~= week, skip("."),
          let weekday = number(), 0...6 ~= weekday
        else { return nil }
        return .weekday(month: month, week: week, weekday: weekday)
      }
      if skip("J") {
        guard let day = number(), 1...365 ~= day else { return nil }
        return .withoutLeapDay(day)
      }
      guard let day = number(), 0...365 ~= day else { return nil }
      return .withLeapDay(day)
    }
  }
}
