/// A buffer for lines that consist of many short parts, such as those of a log. An array checks on each call of `append`
/// whether its storage is shared, which takes longer than copying a short part.
package struct ByteBuffer: ~Copyable {
  /// Allocated memory of `capacity` bytes, of which the first `count` are initialized. No other object refers to it.
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0

  package init(capacity: Int = 1024) {
    self.capacity = max(capacity, 1)
    start = UnsafeMutablePointer.allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  /// Removes all bytes, and keeps the memory for further ones.
  package mutating func removeAll() { count = 0 }

  package borrowing func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows
    -> Result
  {
    try body(UnsafeBufferPointer(start: start, count: count))
  }

  /// Makes room for further bytes.
  @inline(__always) private mutating func reserve(_ added: Int) {
    if capacity - count < added { grow(added) }
  }

  @inline(never) private mutating func grow(_ added: Int) {
    capacity = max(capacity * 2, count + added)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: start, count: count)
    start.deallocate()
    start = larger
  }

  @inline(__always) package mutating func append(_ byte: UInt8) {
    reserve(1)
    start[count] = byte
    count += 1
  }

  @inline(__always) package mutating func append(literal text: StaticString) {
    text.withUTF8Buffer { append($0) }
  }

  @inline(__always) package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.baseAddress else { return }
    reserve(bytes.count)
    (start + count).update(from: first, count: bytes.count)
    count += bytes.count
  }

  package mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  /// Appends a number in decimal notation.
  package mutating func append(decimal number: Int64) {
    reserve(Digits.capacity)
    count += Digits.write(number, to: start + count)
  }

  /// Appends the last digits of a nonnegative number, at most 20, padded with leading zeros.
  package mutating func append(_ number: Int64, digits: Int) {
    reserve(Digits.capacity)
    count += Digits.write(number.magnitude, digits: min(digits, 20), to: start + count)
  }

  /// Appends a duration in seconds, rounded to at most `decimals` (0 to 9) decimals, without trailing zeros.
  /// A negative duration counts as zero.
  ///
  /// - Parameter minimum: the number of decimals that are written even if they are zeros.
  package mutating func append(seconds duration: Duration, decimals: Int, minimum: Int = 0) {
    reserve(Digits.capacity)
    count += Digits.write(seconds: duration, decimals: decimals, minimum: minimum, to: start + count)
  }
}
