/// A manifest's bytes, and where its lines begin.
///
/// Lines end where libyaml ends them (LF, CR, CRLF, NEL, LS, PS), so that its marks and ours agree.
package struct SourceText: Sendable {
  package let file: String
  /// The bytes without a byte order mark.
  package let bytes: [UInt8]
  private let lineStarts: [Int]

  package init(_ bytes: [UInt8], file: String) {
    self.file = file
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    self.bytes = hasMark ? Array(bytes.dropFirst(3)) : bytes
    lineStarts = Self.lineStarts(of: self.bytes)
  }

  /// The text of a line (from 1) without its end; bytes that are not UTF-8 become U+FFFD.
  package func line(_ number: Int) -> String {
    String(decoding: bytes[range(ofLine: number)], as: UTF8.self)
  }

  /// At most `limit` code points of a line from a column (from 1) on.
  ///
  /// A line can be 64 MiB long; nobody who looks for the end of a word wants all of it.
  package func text(line number: Int, from column: Int, limit: Int) -> String {
    let slice = bytes[range(ofLine: number)]
    var index = slice.startIndex
    for _ in 1..<max(1, column) where index < slice.endIndex {
      index = Self.next(index, in: slice)
    }
    let start = index
    for _ in 0..<limit where index < slice.endIndex {
      index = Self.next(index, in: slice)
    }
    return String(decoding: slice[start..<index], as: UTF8.self)
  }

  private func range(ofLine number: Int) -> Range<Int> {
    guard number >= 1, number <= lineStarts.count else { return 0..<0 }
    let start = lineStarts[number - 1]
    var end = number < lineStarts.count ? lineStarts[number] : bytes.count
    if number < lineStarts.count { end = Self.withoutLineEnd(bytes, start, end) }
    return start..<end
  }

  private static func withoutLineEnd(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
    switch bytes[end - 1] {
    case 0x0A: end - 2 >= start && bytes[end - 2] == 0x0D ? end - 2 : end - 1
    case 0x0D: end - 1
    case 0x85: end - 2
    default: end - 3
    }
  }

  private static func next(_ index: Int, in slice: ArraySlice<UInt8>) -> Int {
    var next = index + 1
    while next < slice.endIndex, slice[next] & 0xC0 == 0x80 { next += 1 }
    return next
  }

  private static func lineStarts(of bytes: [UInt8]) -> [Int] {
    var starts = [0]
    for index in bytes.indices {
      let endsLine: Bool
      switch bytes[index] {
      case 0x0A: endsLine = true
      case 0x0D: endsLine = index + 1 >= bytes.count || bytes[index + 1] != 0x0A
      case 0x85: endsLine = index >= 1 && bytes[index - 1] == 0xC2
      case 0xA8, 0xA9: endsLine = index >= 2 && bytes[index - 1] == 0x80 && bytes[index - 2] == 0xE2
      default: endsLine = false
      }
      if endsLine { starts.append(index + 1) }
    }
    return starts
  }
}

extension SourceText {
  /// The largest manifest that is read, in bytes (64 MiB).
  package static let largest = 64 << 20

  package var start: SourceLocation { SourceLocation(file: file, line: 1, column: 1) }

  /// What makes the bytes unreadable before YAML is looked at: size, encoding, control characters.
  package func unreadable() -> Diagnostic? {
    guard bytes.count <= Self.largest else {
      return Diagnostic(
        .manifestTooLarge, at: start, "the manifest is larger than 64 MiB",
        help: "name the files in a `list:` file instead")
    }
    var position = (line: 1, column: 1)
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var previous: Unicode.Scalar = " "
    while true {
      switch decoder.decode(&iterator) {
      case .emptyInput:
        return nil
      case .error:
        return Diagnostic(
          .invalidUTF8, at: SourceLocation(file: file, line: position.line, column: position.column),
          "the text is not valid UTF-8", help: "save the manifest as UTF-8")
      case .scalarValue(let scalar):
        if Self.isForbidden(scalar) {
          let code = String(scalar.value, radix: 16, uppercase: true)
          let padded = String(repeating: "0", count: max(0, 4 - code.count)) + code
          return Diagnostic(
            .forbiddenCharacter, at: SourceLocation(file: file, line: position.line, column: position.column),
            "the control character U+\(padded) cannot stand in YAML",
            help: "remove it, or write it as an escape in double quotes")
        }
        switch scalar {
        case "\n" where previous == "\r": break
        case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
          position = (position.line + 1, 1)
        default:
          position.column += 1
        }
        previous = scalar
      }
    }
  }

  /// YAML 1.2 §5.1, c-printable.
  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: false
    default: true
    }
  }
}
