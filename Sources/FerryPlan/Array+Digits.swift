extension [UInt8]: DigitBuffer {
  package mutating func append(literal text: StaticString) { text.withUTF8Buffer { append(contentsOf: $0) } }

  /// Appends all digits at once, because each call of `append` checks the array.
  package mutating func appendDigits(of number: UInt64, count: Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { text in
      var rest = number
      for position in stride(from: count - 1, through: 0, by: -1) {
        text[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: text[..<Swift.max(0, count)]))
    }
  }
}
