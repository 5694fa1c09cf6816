/// File names, and messages with names or a server's words in them, for people: on one line, and nothing that a
/// terminal obeys.
///
/// Names are quoted as git quotes them (core.quotePath off): one with a control character, a double quote, a
/// backslash, a byte that is not UTF-8 or an invisible character that turns or hides text stands in double quotes,
/// with C's escapes and octal bytes.
package enum NameText {
  package static func shown(_ name: some Collection<UInt8>) -> String {
    let bytes = Array(name)
    if let text = String(validating: bytes, as: UTF8.self), text.unicodeScalars.allSatisfy(isPlain) {
      return text
    }
    var quoted = "\""
    var rest = bytes[...]
    while !rest.isEmpty {
      let (scalar, length) = first(of: rest)
      if let scalar, isPlain(scalar) {
        quoted.unicodeScalars.append(scalar)
      } else {
        quoted += rest.prefix(length).map(escape).joined()
      }
      rest = rest.dropFirst(length)
    }
    return quoted + "\""
  }

  /// A message of one line; what `shown` has quoted stays as it is.
  package static func line(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy({ !isHostile($0) }) else { return text }
    return text.unicodeScalars.map { scalar in
      isHostile(scalar) ? String(scalar).utf8.map(escape).joined() : String(scalar)
    }.joined()
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\"" && scalar != "\\" && !isHostile(scalar)
  }

  /// Joiners stay: emoji and some scripts are written with them.
  private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: false
    }
  }

  /// `nil` for a byte that begins no scalar.
  private static func first(of bytes: ArraySlice<UInt8>) -> (scalar: Unicode.Scalar?, length: Int) {
    for length in 1...4 where length <= bytes.count {
      let text = String(validating: bytes.prefix(length), as: UTF8.self)
      if let scalar = text?.unicodeScalars.first { return (scalar, length) }
    }
    return (nil, 1)
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case 0x07: return "\\a"
    case 0x08: return "\\b"
    case 0x09: return "\\t"
    case 0x0A: return "\\n"
    case 0x0B: return "\\v"
    case 0x0C: return "\\f"
    case 0x0D: return "\\r"
    case 0x22: return "\\\""
    case 0x5C: return "\\\\"
    default:
      let digits = String(byte, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
  }
}

extension NameText {
  /// A name as a document has it.
  ///
  /// - Parameter base64: its bytes, where they are not UTF-8.
  package static func shown(_ name: String, base64: String? = nil) -> String {
    shown(base64.flatMap(Base64.decode) ?? Array(name.utf8))
  }
}
