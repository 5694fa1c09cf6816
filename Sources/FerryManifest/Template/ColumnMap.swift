/// Finds the location of a scalar's `${` in the manifest's text.
///
/// The location is exact for all scalar styles. If the text does not match the scalar, the location is
/// the scalar's start.
struct ColumnMap {
  private let start: SourceLocation
  private var walk: Walk

  private enum Walk {
    case unescaped(UnescapedWalk)
    case doubleQuoted(DoubleQuotedWalk)
    case none
  }

  /// - Parameter start: the start of the scalar, or of the anchor or tag before it.
  init(_ scalar: YAMLScalar, at start: SourceLocation, in source: SourceText) {
    self.start = start
    walk = .none
    guard start.file == source.file else { return }
    var cursor = SourceCursor(source, at: start)
    Self.skipProperties(&cursor)
    switch scalar.style {
    case .plain:
      walk = .unescaped(UnescapedWalk(scalar.text, from: cursor))
    case .singleQuoted where cursor.isAt("'"):
      walk = .unescaped(UnescapedWalk(scalar.text, from: cursor))
    case .literal where cursor.isAt("|"), .folded where cursor.isAt(">"):
      // A comment may follow the indicator.
      cursor.skipLine()
      walk = .unescaped(UnescapedWalk(scalar.text, from: cursor))
    case .doubleQuoted where cursor.isAt("\""):
      cursor.advance()
      walk = .doubleQuoted(DoubleQuotedWalk(from: cursor))
    case .singleQuoted, .literal, .folded, .doubleQuoted:
      break
    }
  }

  /// Returns the location of a reference in the source text.
  ///
  /// - Parameter offset: the offset of a `${` in code points of the scalar's value, from 0; must increase
  ///   with each call.
  mutating func location(of offset: Int) -> SourceLocation {
    switch walk {
    case .unescaped(var walk):
      self.walk = .none
      defer { self.walk = .unescaped(walk) }
      return walk.location(of: offset) ?? start
    case .doubleQuoted(var walk):
      self.walk = .none
      defer { self.walk = .doubleQuoted(walk) }
      return walk.location(of: offset) ?? start
    case .none:
      return start
    }
  }

  /// libyaml's mark of a value is the start of its anchor or tag.
  private static func skipProperties(_ cursor: inout SourceCursor) {
    while cursor.isAt("&") || cursor.isAt("!") {
      while cursor.byte != nil, !cursor.isAtBlank, !cursor.isAtLineBreak { cursor.advance() }
      while cursor.isAtBlank || cursor.isAtLineBreak || cursor.isAt("#") {
        if cursor.isAt("#") { cursor.skipLine() } else { cursor.advance() }
      }
    }
  }
}

/// Traverses the text of a scalar without escapes.
///
/// Folding, indentation and `''` never separate or create the characters `${`. The nth `${` of the value is
/// therefore the nth in the text.
private struct UnescapedWalk {
  private let letters: String.UnicodeScalarView
  private var position: String.UnicodeScalarView.Index
  private var offset = 0
  private var cursor: SourceCursor

  init(_ text: String, from cursor: SourceCursor) {
    letters = text.unicodeScalars
    position = letters.startIndex
    self.cursor = cursor
  }

  mutating func location(of wanted: Int) -> SourceLocation? {
    while offset <= wanted, position < letters.endIndex {
      let next = letters.index(after: position)
      if letters[position] == "$", next < letters.endIndex, letters[next] == "{" {
        while cursor.byte != nil, !cursor.isAt("${") { cursor.advance() }
        if offset == wanted { return cursor.byte == nil ? nil : cursor.location }
        cursor.advance()
      }
      position = next
      offset += 1
    }
    return nil
  }
}
