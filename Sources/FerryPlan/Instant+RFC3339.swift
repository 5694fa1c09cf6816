extension Instant {
  /// RFC 3339 in UTC with milliseconds, as in `2026-03-02T10:15:00.250Z`.
  package var rfc3339: String {
    let milliseconds = nanoseconds.floorDivided(by: 1_000_000)
    let (days, ofDay) = milliseconds.dividedWithFloor(by: 86_400_000)
    let (year, month, day) = Self.civil(days)
    let seconds = ofDay / 1000
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T"
      + "\(Self.padded(seconds / 3600, 2)):\(Self.padded(seconds / 60 % 60, 2)):\(Self.padded(seconds % 60, 2))"
      + ".\(Self.padded(ofDay % 1000, 3))Z"
  }

  /// As `rfc3339`, to the second and without separators, for names: `20260302T101500Z`.
  package var compact: String {
    String(rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }

  /// The proleptic Gregorian date of a day since 1970-01-01 (Hinnant, "chrono-Compatible Low-Level Date
  /// Algorithms", civil_from_days).
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, ofEra) = (days + 719_468).dividedWithFloor(by: 146_097)
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let dayOfYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 { dividedWithFloor(by: divisor).quotient }

  fileprivate func dividedWithFloor(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
