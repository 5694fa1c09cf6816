extension SourceText {
  /// The largest manifest that is read, in bytes (64 MiB).
  package static let largest = 64 << 20

  package var start: SourceLocation { SourceLocation(file: file, line: 1, column: 1) }

  /// The reason why the bytes cannot be read; nil if they can be read. Size, encoding and control characters
  /// are checked before the YAML is parsed.
  package func unreadable() -> Diagnostic? {
    guard bytes.count <= Self.largest else {
      return Diagnostic(
        .manifestTooLarge, at: start, "the manifest is larger than 64 MiB",
        help: "list the files in a `list:` file instead")
    }
    return bytes.withUnsafeBufferPointer { bytes in
      var place = start
      var index = 0
      while index < bytes.count {
        // Almost all characters of a manifest are between U+0020 and U+007E.
        let start = index
        while index < bytes.count, bytes[index] &- 0x20 < 0x5F { index += 1 }
        place.column += index - start
        guard index < bytes.count else { return nil }
        guard let (scalar, length) = Self.scalar(at: index, in: bytes) else {
          return Diagnostic(
            .invalidUTF8, at: place, "the text is not valid UTF-8", help: "save the manifest as UTF-8")
        }
        if let forbidden = Self.forbidden(scalar, at: place) { return forbidden }
        switch scalar {
        case "\r" where index + 1 < bytes.count && bytes[index + 1] == 0x0A:
          break
        case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
          place.line += 1
          place.column = 1
        default:
          place.column += 1
        }
        index += length
      }
      return nil
    }
  }

  private static func scalar(
    at index: Int, in bytes: UnsafeBufferPointer<UInt8>
  ) -> (Unicode.Scalar, length: Int)? {
    let first = UInt32(bytes[index])
    let length: Int
    let smallest: UInt32
    var value: UInt32
    switch first {
    case 0x00...0x7F: return (Unicode.Scalar(bytes[index]), 1)
    case 0xC2...0xDF: (length, smallest, value) = (2, 0x80, first & 0x1F)
    case 0xE0...0xEF: (length, smallest, value) = (3, 0x800, first & 0x0F)
    case 0xF0...0xF4: (length, smallest, value) = (4, 0x10000, first & 0x07)
    default: return nil
    }
    guard index + length <= bytes.count else { return nil }
    for next in index + 1..<index + length {
      guard bytes[next] & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(bytes[next] & 0x3F)
    }
    guard value >= smallest, let scalar = Unicode.Scalar(value) else { return nil }
    return (scalar, length)
  }

  private static func forbidden(_ scalar: Unicode.Scalar, at place: SourceLocation) -> Diagnostic? {
    let name: String
    switch scalar.value {
    // At the start of a line, libyaml skips the mark but counts a column for it, which changes the
    // indentation.
    case 0xFEFF: name = "a byte order mark (U+FEFF) is not allowed inside the text"
    // YAML 1.2 §5.1, c-printable.
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: return nil
    default:
      let code = String(scalar.value, radix: 16, uppercase: true)
      let padded = String(repeating: "0", count: max(0, 4 - code.count)) + code
      name = "the control character U+\(padded) is not allowed in YAML"
    }
    return Diagnostic(
      .forbiddenCharacter, at: place, name, help: "remove it, or write it as an escape in double quotes")
  }
}
