/// Gzip files (RFC 1952) that are created without a library: either stored bytes, or only zeros.
enum GzipBytes {
  private static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]

  /// A gzip file that contains the bytes, at most the first 65,535, in one stored block (RFC 1951, section
  /// 3.2.4).
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    let count = UInt16(clamping: bytes.count)
    let content = bytes.prefix(Int(count))
    return header + [1] + littleEndian(count) + littleEndian(~count) + content
      + littleEndian(CRC32.checksum(of: content)) + littleEndian(UInt32(count))
  }

  /// A gzip file of at most `size` zeros, but of at least 2,323, in parts: a start, a unit that is repeated
  /// `units` times, and an end.
  ///
  /// The file is one block with fixed Huffman codes: the literal 0, then repeatedly "258 bytes from 1 byte
  /// before", which takes 13 bits. Eight of these fill 13 bytes; one more before them completes the block's
  /// first 11 bits to a byte boundary.
  static func zeros(_ size: Int) -> (start: [UInt8], unit: [UInt8], units: Int, end: [UInt8]) {
    let copy = 258
    let units = max(1, (size - 1 - copy) / (8 * copy))
    let count = 1 + copy + units * 8 * copy
    let match = "1100010100000"
    let start = packed("110" + "00110000" + match)
    let unit = packed(String(repeating: match, count: 8))
    // The end of the block is seven zero bits.
    let end =
      [0] + littleEndian(CRC32.checksum(ofZeros: count)) + littleEndian(UInt32(truncatingIfNeeded: count))
    return (header + start, unit, units, end)
  }

  /// Packs bits in deflate's order: the first bit is the lowest of the first byte.
  private static func packed(_ bits: String) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: (bits.utf8.count + 7) / 8)
    for (index, bit) in bits.utf8.enumerated() where bit == UInt8(ascii: "1") {
      bytes[index / 8] |= 1 << UInt8(index % 8)
    }
    return bytes
  }

  private static func littleEndian(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    (0..<(value.bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

/// The checksum of RFC 1952, section 8.
private enum CRC32 {
  static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(UInt32.max) { advanced($0 ^ UInt32($1)) }
  }

  /// A zero byte changes the register linearly, so the effect of many zero bytes is a power of one matrix over
  /// the bits.
  static func checksum(ofZeros count: Int) -> UInt32 {
    var register = UInt32.max
    var power = (0..<32).map { advanced(1 << UInt32($0)) }
    var rest = count
    while rest > 0 {
      if rest & 1 == 1 { register = product(power, register) }
      power = power.map { product(power, $0) }
      rest >>= 1
    }
    return ~register
  }

  /// The register after one byte, which the caller has already combined with `register`.
  private static func advanced(_ register: UInt32) -> UInt32 {
    (0..<8).reduce(register) { register, _ in
      register & 1 == 1 ? register >> 1 ^ 0xedb8_8320 : register >> 1
    }
  }

  private static func product(_ matrix: [UInt32], _ vector: UInt32) -> UInt32 {
    matrix.enumerated().reduce(0) { $0 ^ (vector >> UInt32($1.offset) & 1 == 1 ? $1.element : 0) }
  }
}
