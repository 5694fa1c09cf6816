/// Encodes a value for a URL or form, byte by byte.
package enum PercentEncoding {
  /// The part of the URL or form in which the value is used.
  package enum Component {
    /// One segment of the path: slashes are encoded.
    case segment
    /// Several segments: slashes are kept.
    case path
    case query
    case fragment
    /// `application/x-www-form-urlencoded` (WHATWG URL §5.2): a space is `+`.
    case form
  }

  package static func append(_ value: [UInt8], for component: Component, to text: inout [UInt8]) {
    for byte in value {
      if stands(byte, in: component) {
        text.append(byte)
      } else if byte == 0x20, case .form = component {
        text.append(UInt8(ascii: "+"))
      } else {
        text.append(UInt8(ascii: "%"))
        text.append(Hexadecimal.digit(byte >> 4))
        text.append(Hexadecimal.digit(byte & 15))
      }
    }
  }

  /// Whether the byte is an unreserved character (RFC 3986 §2.3), which has the same meaning with and without
  /// percent-encoding.
  package static func isUnreserved(_ byte: UInt8) -> Bool { stands(byte, in: .segment) }

  /// Whether the byte is kept as it is. Except for `/` in a path and `*` in a form, only unreserved
  /// characters (RFC 3986 §2.3) are kept, so that a server cannot mistake a value for syntax.
  private static func stands(_ byte: UInt8, in component: Component) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): return true
    default: break
    }
    switch component {
    case .form: return byte == UInt8(ascii: "*")
    case .path: return byte == UInt8(ascii: "~") || byte == UInt8(ascii: "/")
    case .segment, .query, .fragment: return byte == UInt8(ascii: "~")
    }
  }
}
