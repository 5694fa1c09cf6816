/// Goes through the text of a scalar in double quotes and counts the letters that it stands for (YAML 1.2 §7.3.1).
struct DoubleQuotedWalk {
  private var cursor: SourceCursor
  /// Letters of the value before the cursor.
  private var offset = 0

  /// - Parameter cursor: behind the opening quote.
  init(from cursor: SourceCursor) { self.cursor = cursor }

  /// The place of a `$` of the value; nil where the text does not have it there.
  mutating func location(of wanted: Int) -> SourceLocation? {
    while offset < wanted || isAtEscapedBreak {
      guard cursor.byte != nil, !cursor.isAt("\"") else { return nil }
      step()
    }
    let isDollar =
      cursor.isAt("$") || cursor.isAt("\\x24") || cursor.isAt("\\u0024") || cursor.isAt("\\U00000024")
    return offset == wanted && isDollar ? cursor.location : nil
  }

  /// Whether an escape stands here that takes a line's end away, and stands for no letter.
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
      // Blanks at a line's end go with it.
      if !cursor.isAtLineBreak { offset += cursor.location.column - before }
    } else if cursor.isAtLineBreak {
      // libyaml takes these two for ends of lines, as YAML 1.1 does, and keeps them.
      let isKept = cursor.isAt("\u{2028}") || cursor.isAt("\u{2029}")
      let breaks = skipBreaks()
      // One is folded to a blank; of more, each but the first is kept.
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
      // The escape takes the first away.
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

  /// Goes over the ends of lines, and the blanks behind each; returns how many ends there are.
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
