extension Instant {
  /// RFC 3339 in UTC with milliseconds, as in `2026-03-02T10:15:00.250Z`.
  package var rfc3339: String { String(unsafeUninitializedCapacity: 24) { write(to: $0) } }

  /// Writes `rfc3339` to memory with room for 24 bytes. A log has a time in each line, and interpolation takes ten times
  /// as long.
  ///
  /// - Returns: the number of bytes.
  fileprivate func write(to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let milliseconds = nanoseconds.floorDivided(by: 1_000_000)
    let (seconds, ofSecond) = milliseconds.dividedWithFloor(by: 1000)
    let time = LocalTime(seconds: Int(seconds))
    let date = time.date
    var count = 0
    func put(_ number: Int, digits: Int, then separator: Unicode.Scalar) {
      var rest = number
      for position in stride(from: count + digits - 1, through: count, by: -1) {
        text[position] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      text[count + digits] = UInt8(ascii: separator)
      count += digits + 1
    }
    put(date.year, digits: 4, then: "-")
    put(date.month, digits: 2, then: "-")
    put(date.day, digits: 2, then: "T")
    put(time.hour, digits: 2, then: ":")
    put(time.minute, digits: 2, then: ":")
    put(time.second, digits: 2, then: ".")
    put(Int(ofSecond), digits: 3, then: "Z")
    return count
  }

  /// Like `rfc3339`, but with a resolution of seconds and without separators, for use in names:
  /// `20260302T101500Z`.
  package var compact: String {
    String(rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
  }
}

extension [UInt8] {
  /// Appends a time in the format of `Instant.rfc3339`.
  package mutating func append(_ time: Instant) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { text in
      let count = time.write(to: text)
      append(contentsOf: UnsafeBufferPointer(rebasing: text[..<count]))
    }
  }
}
