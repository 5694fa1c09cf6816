/// Finds the place of a letter of a scalar in the manifest's text.
///
/// Exact in plain and quoted scalars on one line; in others, the scalar's start.
struct ColumnMap {
  private let start: SourceLocation
  private let style: YAMLScalar.Style?
  /// The raw text from the scalar's start on; empty where offsets are columns, or cannot be told.
  private let raw: [Unicode.Scalar]
  /// How far the raw text was walked: letters of the value, and of the raw text. Questions come in order.
  private var walked = (offset: 0, index: 1)

  init(_ scalar: YAMLScalar, at start: SourceLocation, in source: SourceText) {
    self.start = start
    switch scalar.style {
    case _ where !scalar.isOnOneLine:
      style = nil
      raw = []
    case .plain:
      style = .plain
      raw = []
    case .singleQuoted, .doubleQuoted:
      style = scalar.style
      // An escape takes at most ten letters (\UXXXXXXXX) for one.
      raw = Array(
        source.text(line: start.line, from: start.column, limit: scalar.text.unicodeScalars.count * 10 + 2)
          .unicodeScalars)
    case .literal, .folded:
      style = nil
      raw = []
    }
  }

  /// - Parameter offset: in code points of the scalar's value, from 0; never less than the one before.
  mutating func location(of offset: Int) -> SourceLocation {
    var location = start
    switch style {
    case nil, .literal, .folded: break
    case .plain: location.column += offset
    case .singleQuoted: location.column += rawOffset(of: offset) { $0 == "'" ? 2 : 1 }
    case .doubleQuoted: location.column += rawOffset(of: offset) { $0 == "\\" ? nil : 1 }
    }
    return location
  }

  /// Walks the raw text behind the opening quote; `length` tells how many letters stand for one, nil for an escape.
  private mutating func rawOffset(of offset: Int, length: (Unicode.Scalar) -> Int?) -> Int {
    while walked.offset < offset, walked.index < raw.count {
      walked.index += length(raw[walked.index]) ?? escapeLength(at: walked.index)
      walked.offset += 1
    }
    return walked.index
  }

  private func escapeLength(at index: Int) -> Int {
    guard index + 1 < raw.count else { return 1 }
    switch raw[index + 1] {
    case "x": return 4
    case "u": return 6
    case "U": return 10
    default: return 2
    }
  }
}
