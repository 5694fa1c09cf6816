/// Formats an effective manifest as YAML: mappings in block style, short lists in brackets, and a comment
/// with the origin of the value after each line.
struct EffectiveText {
  /// The maximum length of a line that influences the column of the comments. The comment of a longer line is
  /// to the right of this column.
  private static let widest = 60
  /// The maximum length of a plain key. libyaml accepts at most 1024 code points before the ':'.
  private static let longestKey = 1_000
  /// The maximum number of elements of a list in brackets. Longer lists have one element per line.
  private static let mostInBrackets = 20

  private struct Line {
    var indent: Int
    var text: String
    var origin: EffectiveOrigin
    var isComment = false

    var width: Int { indent + text.unicodeScalars.count }
  }

  private var lines: [Line] = []

  static func text(_ root: EffectiveValue) -> String {
    var layout = EffectiveText()
    layout.addRest(of: root, indent: 0)
    return layout.text()
  }

  private func text() -> String {
    let column = lines.lazy.map(\.width).filter { $0 <= Self.widest }.max() ?? 0
    return lines.reduce(into: "") { text, line in
      let gap = max(2, column + 2 - line.width)
      text += String(repeating: " ", count: line.indent) + line.text
      text += String(repeating: " ", count: gap) + "# \(line.origin)\n"
    }
  }

  private mutating func add(_ text: String, _ origin: EffectiveOrigin, _ indent: Int) {
    lines.append(Line(indent: indent, text: text, origin: origin))
  }

  private mutating func add(_ member: EffectiveValue.Member, indent: Int) {
    switch member.standing {
    case .words(let words, let origin):
      lines.append(Line(indent: indent, text: "# \(member.key): \(words)", origin: origin, isComment: true))
    case .value(let value):
      var key = WrittenScalar.key(member.key)
      if key.unicodeScalars.count > Self.longestKey {
        add("? " + key, value.origin, indent)
        key = ""
      }
      add(inline(value).map { "\(key): \($0)" } ?? "\(key):", value.origin, indent)
      addRest(of: value, indent: indent + 2)
    }
  }

  /// Adds `- ` and the element; the first line of the element follows the dash.
  private mutating func add(element: EffectiveValue, indent: Int) {
    if let inline = inline(element) {
      add("- " + inline, element.origin, indent)
      addRest(of: element, indent: indent + 2)
      return
    }
    let first = lines.count
    addRest(of: element, indent: indent + 2)
    if lines[first].isComment {
      lines.insert(Line(indent: indent, text: "-", origin: element.origin), at: first)
    } else {
      lines[first].indent = indent
      lines[first].text = "- " + lines[first].text
    }
  }

  /// Adds the part of a value that is on separate lines. For a mapping without values, this is the
  /// description of its keys.
  private mutating func addRest(of value: EffectiveValue, indent: Int) {
    switch value.content {
    case .scalar: break
    case .list(let elements):
      guard inline(value) == nil else { break }
      for element in elements { add(element: element, indent: indent) }
    case .mapping(let members):
      for member in members { add(member, indent: indent) }
    }
  }

  /// A value on one line: a scalar, a short list of scalars with the same origin, or an empty value.
  private func inline(_ value: EffectiveValue) -> String? {
    switch value.content {
    case .scalar(let scalar):
      return WrittenScalar.text(scalar, in: .block)
    case .mapping(let members):
      return members.contains { $0.standing.isValue } ? nil : "{}"
    case .list(let elements):
      guard elements.count <= Self.mostInBrackets else { return nil }
      var texts: [String] = []
      for element in elements {
        guard case .scalar(let scalar) = element.content, element.origin == value.origin else { return nil }
        texts.append(WrittenScalar.text(scalar, in: .flow))
      }
      let text = "[\(texts.joined(separator: ", "))]"
      return elements.count <= 1 || text.unicodeScalars.count <= Self.widest ? text : nil
    }
  }
}
