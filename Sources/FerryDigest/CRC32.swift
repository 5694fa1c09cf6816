/// A CRC of 32 bits, with reflected input and output, of bytes that arrive in pieces.
///
/// It is not Sendable: only one thread uses it at a time.
package final class CRC32: ByteDigest {
  /// A CRC polynomial, stored as tables of remainders.
  package struct Polynomial: Sendable {
    /// Eight tables of 256 remainders: the first is for each byte alone, the others are for the byte followed
    /// by one to seven zero bytes. With them, `update` processes eight bytes at a time.
    fileprivate let tables: [UInt32]

    /// - Parameter reversed: the polynomial with its bits reversed, so that its least significant coefficient
    ///   is the most significant bit.
    private init(reversed: UInt32) {
      var tables = [UInt32](repeating: 0, count: 8 * 256)
      for byte in 0..<256 {
        tables[byte] = (0..<8).reduce(UInt32(byte)) { remainder, _ in
          remainder & 1 == 1 ? remainder >> 1 ^ reversed : remainder >> 1
        }
      }
      for index in 256..<tables.count {
        let before = tables[index - 256]
        tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
      }
      self.tables = tables
    }

    /// CRC-32 (ISO-HDLC), the checksum of Ethernet, gzip and PNG.
    package static let isoHDLC = Polynomial(reversed: 0xEDB8_8320)
    /// CRC-32C (Castagnoli), the checksum of iSCSI (RFC 3720).
    package static let castagnoli = Polynomial(reversed: 0x82F6_3B78)
  }

  private let polynomial: Polynomial
  private var remainder = ~UInt32(0)

  package init(_ polynomial: Polynomial = .isoHDLC) { self.polynomial = polynomial }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    var value = remainder
    polynomial.tables.withUnsafeBufferPointer { tables in
      var index = 0
      while index + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let low = UInt32(truncatingIfNeeded: word) ^ value
        let high = UInt32(truncatingIfNeeded: word >> 32)
        value =
          tables[1792 + Int(low & 0xFF)] ^ tables[1536 + Int(low >> 8 & 0xFF)]
          ^ tables[1280 + Int(low >> 16 & 0xFF)] ^ tables[1024 + Int(low >> 24)]
        value ^=
          tables[768 + Int(high & 0xFF)] ^ tables[512 + Int(high >> 8 & 0xFF)]
          ^ tables[256 + Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
        index += 8
      }
      while index < bytes.count {
        value = value >> 8 ^ tables[Int((value ^ UInt32(bytes[index])) & 0xFF)]
        index += 1
      }
    }
    remainder = value
  }

  /// The checksum of all bytes so far, in 4 bytes, the most significant first. The next update begins another
  /// checksum.
  package func finalize() -> [UInt8] {
    defer { remainder = ~0 }
    return withUnsafeBytes(of: (~remainder).bigEndian) { Array($0) }
  }
}
