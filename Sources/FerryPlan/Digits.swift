/// Writes numbers as text to memory, for formats with a million lines: string interpolation takes several times as long.
enum Digits {
  /// The bytes of memory that each of these functions needs.
  static let capacity = 40

  /// Writes a number in decimal notation.
  ///
  /// - Returns: the number of bytes.
  static func write(_ number: Int64, to text: UnsafeMutablePointer<UInt8>) -> Int {
    if 0...9 ~= number {
      text[0] = UInt8(ascii: "0") + UInt8(number)
      return 1
    }
    let magnitude = number.magnitude
    var (count, rest) = (1, magnitude / 10)
    while rest > 0 {
      count += 1
      rest /= 10
    }
    guard number < 0 else { return write(magnitude, digits: count, to: text) }
    text[0] = UInt8(ascii: "-")
    return write(magnitude, digits: count, to: text + 1) + 1
  }

  /// Writes the last digits of a number, at most 20, padded with leading zeros.
  ///
  /// - Returns: the number of bytes.
  static func write(_ number: UInt64, digits count: Int, to text: UnsafeMutablePointer<UInt8>) -> Int {
    var (rest, position) = (number, count)
    while position > 0 {
      position -= 1
      text[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    return max(0, count)
  }

  /// Writes a duration in seconds, rounded to at most `decimals` (0 to 9) decimals, without trailing zeros.
  /// A negative duration counts as zero.
  ///
  /// - Parameter minimum: the number of decimals that are written even if they are zeros.
  /// - Returns: the number of bytes.
  static func write(
    seconds duration: Duration, decimals: Int, minimum: Int, to text: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let (unit, scale) = (powerOfTen(9 - decimals), powerOfTen(decimals))
    // Rounds a half up. Durations of more than 292 years saturate.
    let rounded = (max(0, duration.nanoseconds) +| Int64(unit / 2)).magnitude / unit
    let seconds = rounded / scale
    let point = write(Int64(seconds), to: text)
    guard decimals > 0 else { return point }
    text[point] = UInt8(ascii: ".")
    var count = point + 1
    count += write(rounded - seconds * scale, digits: decimals, to: text + count)
    while count > point + 1 + minimum, text[count - 1] == UInt8(ascii: "0") { count -= 1 }
    return count == point + 1 ? point : count
  }

  /// A power of ten, for an exponent from 0 to 9.
  private static func powerOfTen(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    case 8: 100_000_000
    case 9: 1_000_000_000
    default: preconditionFailure("a duration has at most nine decimals")
    }
  }
}

extension [UInt8] {
  /// Appends a number in decimal notation.
  package mutating func append(decimal number: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Digits.capacity) { text in
      guard let start = text.baseAddress else { return }
      append(contentsOf: UnsafeBufferPointer(start: start, count: Digits.write(number, to: start)))
    }
  }
}
