/// Reads the fixed-width numbers of a date, from left to right.
package struct DigitScanner {
  private let bytes: [UInt8]
  private var position = 0

  package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  package var isAtEnd: Bool { position == bytes.count }

  package mutating func skip(_ letter: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == letter.value else { return false }
    position += 1
    return true
  }

  /// Reads exactly this number of digits.
  package mutating func number(digits: Int) -> Int? {
    guard bytes.count - position >= digits else { return nil }
    var number = 0
    for byte in bytes[position..<(position + digits)] {
      guard (0x30...0x39).contains(byte) else { return nil }
      number = number * 10 + Int(byte - 0x30)
    }
    position += digits
    return number
  }

  /// Reads the digits after a decimal point, in nanoseconds; further digits are dropped.
  package mutating func fraction() -> Int64? {
    var nanoseconds: Int64 = 0
    var place: Int64 = 100_000_000
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
      nanoseconds += Int64(bytes[position] - 0x30) * place
      place /= 10
      position += 1
    }
    return position == start ? nil : nanoseconds
  }
}
