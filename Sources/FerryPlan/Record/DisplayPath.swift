import FerryDigest
import FerryManifest

/// File names, and messages that contain names or text from a server, as printed for users: on one line, and
/// without characters that control a terminal.
///
/// Names are quoted as git quotes them (core.quotePath off). A name that contains a control character, a
/// double quote, a backslash, a byte that is not UTF-8, or an invisible character that reorders or hides text
/// is enclosed in double quotes, with C escapes and octal bytes. So is a name that begins with two colons, or
/// with spaces and two colons.
package enum DisplayPath {
  package static func shown(_ name: some Collection<UInt8>) -> String {
    // Most names need no quotes and are ASCII, and each line of a log has a name.
    if isUnquotedASCII(name) { return String(decoding: name, as: UTF8.self) }
    let bytes = Array(name)
    if let text = String(validating: bytes, as: UTF8.self), text.unicodeScalars.allSatisfy(isPlain),
      !isWorkflowCommand(bytes)
    {
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

  /// A message on one line; names already quoted by `shown` are not changed.
  package static func line(_ text: String) -> String {
    guard !text.utf8.allSatisfy(isPrintableASCII) else { return text }
    guard !text.unicodeScalars.allSatisfy({ !$0.isHostile }) else { return text }
    return text.unicodeScalars.map { scalar in
      scalar.isHostile ? String(scalar).utf8.map(escape).joined() : String(scalar)
    }.joined()
  }

  /// Appends a name as `shown` returns it.
  package static func append(_ name: ArraySlice<UInt8>, to text: inout ByteBuffer) {
    if isUnquotedASCII(name) { text.append(name) } else { text.append(shown(name)) }
  }

  private static func isUnquotedASCII(_ name: some Collection<UInt8>) -> Bool {
    (name.withContiguousStorageIfAvailable { PlainText.isPlain($0) } ?? false) && !isWorkflowCommand(name)
  }

  /// Whether GitHub Actions would interpret a line that begins with the name as a command.
  static func isWorkflowCommand(_ name: some Collection<UInt8>) -> Bool {
    guard let first = name.first, first == UInt8(ascii: " ") || first == UInt8(ascii: ":") else {
      return false
    }
    return name.drop { $0 == UInt8(ascii: " ") }.starts(with: "::".utf8)
  }

  private static func isPrintableASCII(_ byte: UInt8) -> Bool { (0x20..<0x7F).contains(byte) }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\"" && scalar != "\\" && !scalar.isHostile
  }

  /// The first scalar and its length in bytes; `nil` for a byte that does not begin a scalar.
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

  /// The bytes of a quoted name as written by `shown`; `nil` if it is not a quoted name.
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

  /// Reads the rest of an escape after the backslash: a letter, or three octal digits.
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
  /// A name's bytes in Base64, which documents contain in addition to its text; `nil` if the name is valid
  /// UTF-8.
  package static func base64(_ name: some Collection<UInt8>) -> String? {
    name.allSatisfy { $0 < 0x80 } || String(validating: name, as: UTF8.self) != nil
      ? nil : Base64.encode(name)
  }

  /// A name from a document.
  ///
  /// - Parameter base64: the bytes of the name in Base64, if the name is not valid UTF-8.
  package static func shown(_ name: String, base64: String? = nil) -> String {
    shown(base64.flatMap(Base64.decode) ?? Array(name.utf8))
  }
}
