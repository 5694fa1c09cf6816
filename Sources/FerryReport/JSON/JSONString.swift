import FerryDigest

/// Writes strings as JSON (RFC 8259 §7).
package enum JSONString {
  /// Appends a quoted and escaped string. Bytes that are not UTF-8 become U+FFFD, because JSON cannot represent them.
  package static func append(_ value: [UInt8], to text: inout [UInt8]) {
    append(String(decoding: value, as: UTF8.self), to: &text)
  }

  package static func append(_ value: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""): text += "\\\"".utf8
      case UInt8(ascii: "\\"): text += "\\\\".utf8
      case 0x0A: text += "\\n".utf8
      case 0x0D: text += "\\r".utf8
      case 0x09: text += "\\t".utf8
      case 0..<0x20:
        text += "\\u00".utf8
        text.append(Hexadecimal.digit(byte >> 4))
        text.append(Hexadecimal.digit(byte & 15))
      default: text.append(byte)
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
