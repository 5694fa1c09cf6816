/// Converts a path to a URI reference (RFC 3986): relative for a relative path, a `file:` URI for an
/// absolute path.
enum URIReference {
  static func text(path: String) -> String {
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    // Empty and `.` components have no meaning, and tools compare these strings.
    var steps: [Substring] = []
    for step in path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init) where step != "." {
      if step == "..", let last = steps.last, last != ".." { steps.removeLast() } else { steps.append(step) }
    }
    let encoded = steps.map(encode).joined(separator: "/")
    return isAbsolute ? "file:///\(encoded)" : encoded
  }

  /// Percent-encodes all characters except unreserved ones (§2.3). A colon in the first component would make
  /// it a scheme.
  private static func encode(_ step: Substring) -> String {
    var text = ""
    for byte in step.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return text
  }
}
