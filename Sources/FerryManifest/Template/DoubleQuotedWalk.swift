/// Traverses the text of a double-quoted scalar and counts the characters of its value (YAML 1.2 §7.3.1).
struct DoubleQuotedWalk {
  private var cursor: SourceCursor
  /// The number of characters of the value before the cursor.
  private var offset = 0

  /// - Parameter cursor: the position after the opening quote.
  init(from cursor: SourceCursor) { self.cursor = cursor }

  /// Advances to the character at offset `wanted` in the value, and returns its location; nil if it is not a `$`.
  mutating func location(of wanted: Int) -> SourceLocation? {
    while offset < wanted || isAtEscapedBreak {
      guard cursor.byte != nil, !cursor.isAt("\"") else { return nil }
      step()
    }
    let isDollar =
      cursor.isAt("$") || cursor.isAt("\\x24") || cursor.isAt("\\u0024") || cursor.isAt("\\U00000024")
    return offset == wanted && isDollar ? cursor.location : nil
  }

  /// Whether the cursor is at an escape that removes a line break and produces no character.
  private var isAtEscapedBreak: Bool {
    guard cursor.isAt("\\") else { return false }
    var next = cursor
    next.advance()
    return next.isAtLineBreak
  }

  private mutating func step() {
    if cursor.isAtBlank {
      let before = cursor.location.column
      cursor.skipBlanks()
      // Blanks at the end of a line are dropped with the line break.
      if !cursor.isAtLineBreak { offset += cursor.location.column - before }
    } else if cursor.isAtLineBreak {
      // libyaml treats these two as line breaks, as YAML 1.1 does, and keeps them.
      let isKept = cursor.isAt("\u{2028}") || cursor.isAt("\u{2029}")
      let breaks = skipBreaks()
      // A single line break is folded to a blank. If there are several, all but the first are kept.
      offset += isKept ? breaks : max(1, breaks - 1)
    } else if cursor.isAt("\\") {
      skipEscape()
    } else {
      cursor.advance()
      offset += 1
    }
  }

  private mutating func skipEscape() {
    cursor.advance()
    if cursor.isAtLineBreak {
      // The escape removes the first line break.
      offset += skipBreaks() - 1
      return
    }
    let digits: Int
    switch cursor.byte {
    case UInt8(ascii: "x"): digits = 2
    case UInt8(ascii: "u"): digits = 4
    case UInt8(ascii: "U"): digits = 8
    default: digits = 0
    }
    for _ in 0...digits { cursor.advance() }
    offset += 1
  }

  /// Skips line breaks, and the blanks after each. Returns the number of line breaks.
  private mutating func skipBreaks() -> Int {
    var count = 0
    while cursor.isAtLineBreak {
      if cursor.isAt("\r\n") { cursor.advance() }
      cursor.advance()
      count += 1
      cursor.skipBlanks()
    }
    return count
  }
}
