/// Text in XML 1.0.
enum XMLText {
  /// Text for an attribute in double quotes, or for the content of an element.
  ///
  /// Characters that XML cannot contain (section 2.2 of the recommendation) become U+FFFD. `>` is always escaped, so
  /// that no `]]>` remains, and white space is escaped, so that a parser does not normalize it.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\r", "\t": result += "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
