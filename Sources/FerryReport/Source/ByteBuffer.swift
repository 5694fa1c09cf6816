import FerryPlan

/// A buffer for lines that consist of many short parts, such as those of a log. An array checks on each call of `append`
/// whether its storage is shared, which takes longer than copying a short part.
package struct ByteBuffer: ~Copyable, DigitBuffer {
  /// Allocated memory of `capacity` bytes, of which the first `count` are initialized. No other object refers to it.
  private var start: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  package private(set) var count = 0

  package init(capacity: Int = 1024) {
    self.capacity = max(capacity, 1)
    start = UnsafeMutablePointer.allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  package var isEmpty: Bool { count == 0 }

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

  package mutating func appendDigits(of number: UInt64, count digits: Int) {
    guard digits > 0 else { return }
    reserve(digits)
    var rest = number
    for position in stride(from: count + digits - 1, through: count, by: -1) {
      start[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count += digits
  }
}
