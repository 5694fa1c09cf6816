/// A buffer for lines that consist of many short parts, such as those of a log. An array checks on each call of `append`
/// whether its storage is shared, which takes longer than copying a short part.
///
/// The functions that append short parts are inlined in other modules, because a call takes as long as the copy. The
/// optimizer then also replaces the copy of a literal by a few instructions. It inlines functions of other modules only if
/// they are public.
public struct ByteBuffer: ~Copyable {
  /// Allocated memory of `capacity` bytes, of which the first `count` are initialized. No other object refers to it.
  @usableFromInline var start: UnsafeMutablePointer<UInt8>
  @usableFromInline var room: Int
  @usableFromInline var used = 0

  public init(capacity: Int = 1024) {
    room = max(capacity, 1)
    start = UnsafeMutablePointer.allocate(capacity: room)
  }

  deinit { start.deallocate() }

  @inlinable public var count: Int { used }

  /// The number of bytes for which there is memory.
  public var capacity: Int { room }

  /// Removes all bytes, and keeps the memory for further ones.
  @inlinable
  public mutating func removeAll() { used = 0 }

  @inlinable
  public borrowing func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows
    -> Result
  {
    try body(UnsafeBufferPointer(start: start, count: used))
  }

  /// Appends bytes that `write` writes to the end of the buffer.
  ///
  /// - Parameters:
  ///   - most: the greatest number of these bytes.
  ///   - write: writes them to the memory, and returns their number.
  @inlinable @inline(__always)
  public mutating func append(atMost most: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    if room - used < most { grow(most) }
    used += write(start + used)
  }

  @inlinable @inline(never)
  mutating func grow(_ added: Int) {
    room = max(room * 2, used + added)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
    larger.update(from: start, count: used)
    start.deallocate()
    start = larger
  }

  @inlinable @inline(__always)
  public mutating func append(_ byte: UInt8) {
    append(atMost: 1) { text in
      text[0] = byte
      return 1
    }
  }

  @inlinable @inline(__always)
  public mutating func append(literal text: StaticString) {
    append(atMost: text.utf8CodeUnitCount) { end in
      end.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
      return text.utf8CodeUnitCount
    }
  }

  @inlinable @inline(__always)
  public mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.baseAddress else { return }
    append(atMost: bytes.count) { text in
      text.update(from: first, count: bytes.count)
      return bytes.count
    }
  }

  @inlinable @inline(__always)
  public mutating func append(_ bytes: borrowing ByteBuffer) { bytes.withBytes { append($0) } }

  @inlinable @inline(__always)
  public mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { append($0) } }

  @inlinable @inline(__always)
  public mutating func append(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBufferPointer { append($0) } }

  @inlinable @inline(__always)
  public mutating func append(_ text: String) {
    // Unlike `withUTF8`, this does not copy the string.
    guard text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil else { return }
    for byte in text.utf8 { append(byte) }
  }

  /// Appends a number in decimal notation.
  public mutating func append(decimal number: Int64) {
    append(atMost: Digits.capacity) { Digits.write(number, to: $0) }
  }

  /// Appends the last digits of a nonnegative number, at most 20, padded with leading zeros.
  public mutating func append(_ number: Int64, digits: Int) {
    append(atMost: Digits.capacity) { Digits.write(number.magnitude, digits: min(digits, 20), to: $0) }
  }

  /// Appends a duration in seconds, rounded to at most `decimals` (0 to 9) decimals, without trailing zeros.
  /// A negative duration counts as zero.
  ///
  /// - Parameter minimum: the number of decimals that are written even if they are zeros.
  public mutating func append(seconds duration: Duration, decimals: Int, minimum: Int = 0) {
    append(atMost: Digits.capacity) {
      Digits.write(seconds: duration, decimals: decimals, minimum: minimum, to: $0)
    }
  }
}
