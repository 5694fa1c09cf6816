import FerryPlan

/// Text in Markdown. Entity references have no structural meaning (CommonMark 0.31, section 2.5), so no character
/// of a name or a message can begin a table cell, a link, a mention or HTML.
enum MarkdownText {
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in DisplayPath.line(text).unicodeScalars {
      switch scalar {
      case " ", "a"..."z", "A"..."Z", "0"..."9", ",", ";", "(", ")", "'", "%", "/", "-", "=":
        result.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{7F}": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Like `escaped`, but in a fixed-width font, in which GitHub does not create links or mentions.
  static func code(_ text: String) -> String { "<code>\(escaped(text))</code>" }
}
