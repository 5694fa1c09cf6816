/// File names, and messages with names or a server's words in them, for people: on one line, and nothing that a
/// terminal obeys.
///
/// Names are quoted as git quotes them (core.quotePath off): one with a control character, a double quote, a
/// backslash, a byte that is not UTF-8 or an invisible character that turns or hides text stands in double quotes,
/// with C's escapes and octal bytes.
package enum DisplayPath {
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
    // Letters that are drawn as nothing, such as U+3164; marks that change the letter before them are none of these.
    case .otherLetter: scalar.properties.isDefaultIgnorableCodePoint
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
    if let letter = letters[byte] { return "\\\(letter)" }
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
  }

  private static let letters: [UInt8: Unicode.Scalar] = [
    0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r", 0x22: "\"", 0x5C: "\\",
  ]

  /// The bytes of a name that stands in double quotes, as `shown` writes it; `nil` where it does not.
  package static func read(_ quoted: some Collection<UInt8>) -> [UInt8]? {
    let mark = UInt8(ascii: "\"")
    let quoted = Array(quoted)
    guard quoted.count >= 2, quoted.first == mark, quoted.last == mark else { return nil }
    var rest = quoted[1..<(quoted.count - 1)]
    var name: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte != mark, let meant = byte == UInt8(ascii: "\\") ? readEscape(from: &rest) : byte
      else { return nil }
      name.append(meant)
    }
    return name
  }

  /// What follows a backslash: a letter, or three octal digits.
  private static func readEscape(from rest: inout ArraySlice<UInt8>) -> UInt8? {
    guard let first = rest.first else { return nil }
    if let byte = letters.first(where: { $0.value.value == UInt32(first) })?.key {
      rest.removeFirst()
      return byte
    }
    guard rest.count >= 3, rest.prefix(3).allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
    let digits = rest.prefix(3).reduce(0) { $0 << 3 | Int($1 - 0x30) }
    rest = rest.dropFirst(3)
    return UInt8(exactly: digits)
  }
}

extension DisplayPath {
  /// A name's bytes in Base64, as documents have them beside its text; `nil` where it is UTF-8.
  package static func base64(_ name: some Collection<UInt8>) -> String? {
    String(validating: name, as: UTF8.self) == nil ? Base64.encode(name) : nil
  }

  /// A name as a document has it.
  ///
  /// - Parameter base64: its bytes, where they are not UTF-8.
  package static func shown(_ name: String, base64: String? = nil) -> String {
    shown(base64.flatMap(Base64.decode) ?? Array(name.utf8))
  }
}
