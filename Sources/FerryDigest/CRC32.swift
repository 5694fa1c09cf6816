/// CRC-32 (ISO-HDLC, the checksum of Ethernet, gzip and PNG) of bytes that arrive in pieces.
///
/// It is not Sendable: only one thread uses it at a time.
package final class CRC32: ByteDigest {
  /// The remainders of all bytes, and of all bytes with one to three zero bytes after them: four bytes are processed at
  /// a time.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 4 * 256)
    for byte in 0..<256 {
      tables[byte] = (0..<8).reduce(UInt32(byte)) { remainder, _ in
        remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
      }
    }
    for index in 256..<tables.count {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()

  private var remainder = ~UInt32(0)

  package init() {}

  package func update(_ bytes: UnsafeRawBufferPointer) {
    var value = remainder
    Self.tables.withUnsafeBufferPointer { tables in
      var index = 0
      while index + 4 <= bytes.count {
        value ^= UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        value =
          tables[768 + Int(value & 0xFF)] ^ tables[512 + Int(value >> 8 & 0xFF)]
          ^ tables[256 + Int(value >> 16 & 0xFF)] ^ tables[Int(value >> 24)]
        index += 4
      }
      while index < bytes.count {
        value = value >> 8 ^ tables[Int((value ^ UInt32(bytes[index])) & 0xFF)]
        index += 1
      }
    }
    remainder = value
  }

  /// The checksum of all bytes so far, in 4 bytes, the most significant first. The next update begins another one.
  package func finalize() -> [UInt8] {
    defer { remainder = ~0 }
    return withUnsafeBytes(of: (~remainder).bigEndian) { Array($0) }
  }
}
