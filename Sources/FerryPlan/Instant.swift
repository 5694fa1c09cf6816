/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z.
///
/// Within a launch, the current instant advances with the monotonic clock, so setting the wall clock does not
/// change any interval. Between launches, and in persisted data, instants are wall-clock times.
package struct Instant: Hashable, Comparable, Codable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static let distantFuture = Instant(nanoseconds: .max)

  package static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Saturates at the ends of the range (the years 1677 and 2262).
  package func advanced(by duration: Duration) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return Instant(nanoseconds: overflow ? (duration.nanoseconds < 0 ? .min : .max) : sum)
  }

  package func duration(to other: Instant) -> Duration {
    let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other > self ? Int64.max : .min) : difference)
  }
}

extension Duration {
  /// Whole nanoseconds, saturating at ±292 years.
  package var nanoseconds: Int64 {
    // A division of 128 bits takes much longer than one of 64 bits, which are enough for nine seconds.
    if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
    // `components` traps on durations whose seconds do not fit in 64 bits.
    return Int64(clamping: attoseconds / 1_000_000_000)
  }

  /// Seconds as a floating-point number, for reports.
  package var seconds: Double { Double(nanoseconds) / 1e9 }

  package static func seconds(fraction: Double) -> Duration {
    let nanoseconds = fraction * 1e9
    guard nanoseconds.isFinite else { return .nanoseconds(nanoseconds > 0 ? Int64.max : .min) }
    return .nanoseconds(Int64(clamping: nanoseconds))
  }
}

extension Int64 {
  /// The nearest representable value; 0 for NaN.
  package init(clamping value: Double) {
    if value.isNaN {
      self = 0
    } else if value >= 0x1p63 {
      self = .max
    } else if value < -0x1p63 {
      self = .min
    } else {
      self = Int64(value)
    }
  }
}
