/// Recognizes strings that lines of text and of JSON contain unchanged, such as most names.
package enum PlainText {
  /// Whether each byte is a printable ASCII character other than a double quote and a backslash.
  package static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let size = MemoryLayout<UInt64>.size
    guard let start = UnsafeRawPointer(bytes.baseAddress), bytes.count >= size else {
      return isPlain(bytes.reduce(each(UInt8(ascii: " "))) { $0 << 8 | UInt64($1) })
    }
    var position = 0
    while position < bytes.count - size {
      guard isPlain(start.loadUnaligned(fromByteOffset: position, as: UInt64.self)) else { return false }
      position += size
    }
    // The last word may overlap the one before it.
    return isPlain(start.loadUnaligned(fromByteOffset: bytes.count - size, as: UInt64.self))
  }

  /// The same for the bytes of a word, which are examined together: the highest bit of a byte in `other` is set if the byte
  /// is not plain. A borrow or carry can set it wrongly, but only next to a byte for which it is set correctly.
  private static func isPlain(_ word: UInt64) -> Bool {
    let quote = word ^ each(UInt8(ascii: "\""))
    let backslash = word ^ each(UInt8(ascii: "\\"))
    let other = word | (word &+ each(1)) | (word &- each(0x20)) | (quote &- each(1)) | (backslash &- each(1))
    return other & each(0x80) == 0
  }

  /// A word in which each byte has the value.
  @inline(__always) private static func each(_ byte: UInt8) -> UInt64 {
    UInt64(byte) &* 0x0101_0101_0101_0101
  }
}
