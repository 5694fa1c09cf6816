/// A position in a string, with its line and column. It only moves forward.
struct SourceCursor {
  private let source: SourceText
  private var index: Int
  private(set) var location: SourceLocation
  /// The byte index at which the next line begins.
  private var nextLine: Int?

  init(_ source: SourceText, at location: SourceLocation) {
    self.source = source
    self.location = location
    index = source.index(line: location.line, column: location.column)
    nextLine = source.start(ofLine: location.line + 1)
  }

  /// The byte at the cursor, which is the first byte of a character; nil at the end of the text.
  var byte: UInt8? { index < source.bytes.count ? source.bytes[index] : nil }

  /// Whether the given text is at the cursor.
  func isAt(_ text: String) -> Bool {
    var index = index
    for byte in text.utf8 {
      guard index < source.bytes.count, source.bytes[index] == byte else { return false }
      index += 1
    }
    return true
  }

  var isAtBlank: Bool { byte == 0x20 || byte == 0x09 }

  /// Whether the line ends here.
  var isAtLineBreak: Bool {
    switch byte {
    case 0x0A, 0x0D: true
    case 0xC2: isAt("\u{85}")
    case 0xE2: isAt("\u{2028}") || isAt("\u{2029}")
    default: false
    }
  }

  /// Advances by one character; CR and LF count as two.
  mutating func advance() {
    guard index < source.bytes.count else { return }
    index += 1
    while index < source.bytes.count, source.bytes[index] & 0xC0 == 0x80 { index += 1 }
    if index == nextLine {
      location.line += 1
      location.column = 1
      nextLine = source.start(ofLine: location.line + 1)
    } else {
      location.column += 1
    }
  }

  mutating func skipBlanks() {
    while isAtBlank { advance() }
  }

  /// Moves to the start of the next line, or to the end of the text.
  mutating func skipLine() {
    let line = location.line
    while byte != nil, location.line == line { advance() }
  }
}
