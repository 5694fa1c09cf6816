/// The part of a line around a location, and the marker line below it.
struct SourceExcerpt {
  /// The line, shortened if it is long, with control characters and invisible ones replaced.
  let line: String
  /// The text before the caret. Tabs are kept, so that the caret aligns at any tab width.
  let indent: String
  /// A `^`, followed by `~` up to the end of the value.
  let underline: String

  /// The number of characters shown before and after the location.
  private static let before = 80
  private static let behind = 60

  init(_ location: SourceLocation, in source: SourceText) {
    let start = max(1, location.column - Self.before)
    let count = location.column - start
    let shown = Array(
      source.text(line: location.line, from: start, limit: count + Self.behind + 1).unicodeScalars)
    let isCut = shown.count > count + Self.behind
    let scalars = isCut ? Array(shown.dropLast()) : shown
    let head = scalars.prefix(count)
    let tail = scalars.dropFirst(count)

    line =
      (start > 1 ? "…" : "") + Self.visible(scalars) + (isCut ? "…" : "")
    indent =
      (start > 1 ? " " : "")
      + head.map { $0 == "\t" ? "\t" : String(repeating: " ", count: Self.width($0)) }.joined()
    let width = Self.valueLength(Array(tail)).map { tail.prefix($0).map(Self.width).reduce(0, +) } ?? 1
    underline = "^" + String(repeating: "~", count: max(0, width - 1))
  }

  private static func visible(_ scalars: [Unicode.Scalar]) -> String {
    var text = String.UnicodeScalarView()
    for scalar in scalars { text.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
    return String(text)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\t" && scalar.isHostile
  }

  /// The length of the key, value or reference at the beginning of the text, in characters.
  static func valueLength(_ text: [Unicode.Scalar]) -> Int? {
    guard let first = text.first else { return nil }
    switch first {
    case "\"", "'":
      var index = 1
      while index < text.count, text[index] != first {
        index += first == "\"" && text[index] == "\\" ? 2 : 1
      }
      return min(index + 1, text.count)
    case "$" where text.count > 1 && text[1] == "{":
      return text.firstIndex(of: "}").map { $0 + 1 } ?? 2
    case "[", "{", "]", "}", ",", ":", "|", ">", "\t", " ":
      return 1
    default:
      var length = 0
      while length < text.count, !endsValue(text, at: length) { length += 1 }
      while length > 1, text[length - 1] == " " || text[length - 1] == "\t" { length -= 1 }
      return max(1, length)
    }
  }

  private static func endsValue(_ text: [Unicode.Scalar], at index: Int) -> Bool {
    let next = index + 1 < text.count ? text[index + 1] : " "
    switch text[index] {
    case ":": return next == " " || next == "\t"
    case ",": return next == " "
    case "#": return index > 0 && text[index - 1] == " "
    case "]", "}": return true
    default: return false
    }
  }

  /// The width in terminal columns: 0 for combining characters, 2 for East Asian wide characters and emoji,
  /// by their blocks.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if isControl(scalar) { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension Sequence<SourceText> {
  /// The column (in code points, starting at 1) after the key, value or reference that begins at a location;
  /// nil if the text is unavailable or has no such element there.
  func endColumn(of location: SourceLocation) -> Int? {
    guard let source = first(where: { $0.file == location.file }) else { return nil }
    // A longer value is marked only up to this limit.
    let text = source.text(line: location.line, from: location.column, limit: 1_000).unicodeScalars
    return SourceExcerpt.valueLength(Array(text)).map { location.column + $0 }
  }
}
