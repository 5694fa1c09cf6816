/// A buffer of text to which numbers are appended, for formats with a million lines: string interpolation takes several
/// times as long.
package protocol DigitBuffer: ~Copyable {
  mutating func append(_ byte: UInt8)
  mutating func append(literal text: StaticString)
  /// Appends the last digits of a number, at most 20, padded with leading zeros.
  mutating func appendDigits(of number: UInt64, count: Int)
}

extension DigitBuffer where Self: ~Copyable {
  /// Appends a number in decimal notation.
  package mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    append(digitsOf: number.magnitude)
  }

  /// Appends the last digits of a nonnegative number, padded with leading zeros.
  package mutating func append(_ number: Int64, digits: Int) {
    appendDigits(of: number.magnitude, count: min(digits, 20))
  }

  /// Appends a duration in seconds, rounded to at most `decimals` (0 to 9) decimals, without trailing zeros.
  /// A negative duration counts as zero.
  ///
  /// - Parameter minimum: the number of decimals that are written even if they are zeros.
  package mutating func append(seconds duration: Duration, decimals: Int, minimum: Int = 0) {
    var unit: Int64 = 1
    for _ in decimals..<9 { unit *= 10 }
    // Rounds a half up. Durations of more than 292 years saturate.
    var fraction = (max(0, duration.nanoseconds) +| unit / 2) / unit
    var scale: Int64 = 1
    for _ in 0..<decimals { scale *= 10 }
    append(decimal: fraction / scale)
    fraction %= scale
    var digits = decimals
    while digits > minimum, fraction % 10 == 0 {
      fraction /= 10
      digits -= 1
    }
    guard digits > 0 else { return }
    append(UInt8(ascii: "."))
    append(fraction, digits: digits)
  }

  private mutating func append(digitsOf number: UInt64) {
    var (count, rest) = (1, number / 10)
    while rest > 0 {
      count += 1
      rest /= 10
    }
    appendDigits(of: number, count: count)
  }
}
