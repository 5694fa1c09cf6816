import FerryDigest
import FerryPlan

/// Makes JSON safe to print to a terminal.
package enum PrintableJSON {
  /// Escapes characters that JSON allows in strings but a terminal interprets, as `\uXXXX`: DEL, the C1 controls
  /// (U+0080 to U+009F), the line and paragraph separators, and the bidirectional controls. The meaning of the JSON
  /// does not change (RFC 8259, section 7).
  package static func escaping(_ json: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(json)
    guard bytes.contains(where: isLead) else { return bytes }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count + 64)
    bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        if isLead(bytes[index]), let (code, length) = control(bytes[index...].prefix(3)) {
          output += "\\u".utf8
          for shift in [12, 8, 4, 0] { output.append(Hexadecimal.digit(UInt8(code >> shift & 15))) }
          index += length
        } else {
          output.append(bytes[index])
          index += 1
        }
      }
    }
    return output
  }

  /// Appends a quoted string in which these characters are escaped.
  package static func append(_ value: String, to text: inout [UInt8]) {
    var value = value
    guard !value.withUTF8({ appendPlain($0, to: &text) }) else { return }
    var quoted: [UInt8] = []
    JSONString.append(value, to: &quoted)
    text += escaping(quoted)
  }

  /// Appends bytes as a quoted string if none of them has to be escaped, as is the case for most strings.
  ///
  /// - Returns: whether they were appended.
  private static func appendPlain(_ bytes: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) -> Bool {
    guard PlainText.isPlain(bytes) else { return false }
    text.append(quote)
    text.append(contentsOf: bytes)
    text.append(quote)
    return true
  }

  private static let quote = UInt8(ascii: "\"")

  /// Whether the UTF-8 encoding of a control can begin with this byte.
  private static func isLead(_ byte: UInt8) -> Bool {
    byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2
  }

  private static func control(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> (code: UInt32, length: Int)? {
    let start = bytes.startIndex
    switch bytes.first {
    case 0x7F:
      return (0x7F, 1)
    case 0xC2 where bytes.count > 1 && (0x80...0x9F).contains(bytes[start + 1]):
      return (UInt32(bytes[start + 1]), 2)
    case 0xD8 where bytes.count > 1 && bytes[start + 1] == 0x9C:
      return (0x061C, 2)
    case 0xE2 where bytes.count > 2:
      let code = 0x2000 | UInt32(bytes[start + 1] & 0x3F) << 6 | UInt32(bytes[start + 2] & 0x3F)
      switch code {
      case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: return (code, 3)
      default: return nil
      }
    default:
      return nil
    }
  }
}
