import FerryPlan

/// The ledger's unit of time: quarter hours of UTC, counted from 1970-01-01T00:00:00Z.
///
/// The offset of every current time zone is a multiple of a quarter hour (tzdata), so every hour, day and
/// month in any time zone begins and ends at a quarter hour of UTC.
enum QuarterHour {
  static let nanoseconds: Int64 = 900 * 1_000_000_000

  static func of(_ instant: Instant) -> Int64 {
    let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: nanoseconds)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// All quarter hours that the window overlaps.
  static func range(of window: Range<Instant>) -> Range<Int64> {
    let first = of(window.lowerBound)
    guard !window.isEmpty else { return first..<first }
    let last = of(Instant(nanoseconds: window.upperBound.nanoseconds -| 1))
    return first..<last + 1
  }
}
