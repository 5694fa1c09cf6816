/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Hashable, Sendable {
  package let year: Int
  /// The month, 1 to 12.
  package let month: Int
  /// The day of the month, 1 to 31.
  package let day: Int

  private init(existing year: Int, _ month: Int, _ day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// `nil` for a day that does not exist, and for years that RFC 3339 cannot represent (its years are 0 to
  /// 9999).
  package init?(year: Int, month: Int, day: Int) {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self(existing: year, month, 1).daysInMonth
    else { return nil }
    self.init(existing: year, month, day)
  }

  /// The date for a number of days since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date Algorithms",
  /// civil_from_days: years begin in March, an era has 400 years).
  package init(daysSinceEpoch days: Int) {
    let (era, ofEra) = (days + 719_468).dividedWithFloor(by: 146_097)
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    self.init(
      existing: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// The number of days from 1970-01-01 to this date (Hinnant, days_from_civil).
  package var daysSinceEpoch: Int {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).dividedWithFloor(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The day of the week: 1 is Monday, 7 is Sunday (ISO 8601).
  package var weekday: Int {
    // 1970-01-01 was a Thursday.
    (daysSinceEpoch + 3).dividedWithFloor(by: 7).remainder + 1
  }

  package var daysInMonth: Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  package func adding(days: Int) -> CivilDate { CivilDate(daysSinceEpoch: daysSinceEpoch + days) }

  /// The Monday of this day's week (ISO 8601).
  package var firstOfWeek: CivilDate { adding(days: 1 - weekday) }

  package var firstOfMonth: CivilDate { CivilDate(existing: year, month, 1) }

  package var firstOfNextMonth: CivilDate {
    month == 12 ? CivilDate(existing: year + 1, 1, 1) : CivilDate(existing: year, month + 1, 1)
  }
}

extension CivilDate: Comparable {
  package static func < (a: Self, b: Self) -> Bool { (a.year, a.month, a.day) < (b.year, b.month, b.day) }
}

extension CivilDate: CustomStringConvertible {
  /// The date in RFC 3339 format: `2026-03-29`.
  package var description: String { "\(year.padded(to: 4))-\(month.padded(to: 2))-\(day.padded(to: 2))" }
}

extension FixedWidthInteger {
  /// The digits of a non-negative number, with leading zeros.
  func padded(to width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
