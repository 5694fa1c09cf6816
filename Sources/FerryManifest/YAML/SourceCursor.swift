/// A place in a text that moves forward, and knows its line and column at every step.
struct SourceCursor {
  private let source: SourceText
  private var index: Int
  private(set) var location: SourceLocation
  /// Where in the bytes the next line begins.
  private var nextLine: Int?

  init(_ source: SourceText, at location: SourceLocation) {
    self.source = source
    self.location = location
    index = source.index(line: location.line, column: location.column)
    nextLine = source.start(ofLine: location.line + 1)
  }

  /// The byte here, the first of its letter; nil at the text's end.
  var byte: UInt8? { index < source.bytes.count ? source.bytes[index] : nil }

  /// Whether this text stands here.
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

  /// Goes over one letter; CR and LF are two.
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

  /// Goes to the next line's start, or to the text's end.
  mutating func skipLine() {
    let line = location.line
    while byte != nil, location.line == line { advance() }
  }
}
