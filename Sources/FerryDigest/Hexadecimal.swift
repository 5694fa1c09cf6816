/// The hexadecimal encoding of bytes.
package enum Hexadecimal {
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }

  /// An uppercase digit, as preferred for percent-encoding (RFC 3986 §2.1).
  package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }

  /// Lowercase digits, as customary for digests.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    for byte in bytes {
      for value in [byte >> 4, byte & 15] { digits.append(value < 10 ? 0x30 + value : 0x61 + value - 10) }
    }
    return String(decoding: digits, as: UTF8.self)
  }
}
