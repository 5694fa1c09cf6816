extension String {
  /// At most 60 characters, with control characters and invisible ones replaced, for a one-line message.
  var clipped: String {
    var text = ""
    var count = 0
    for scalar in unicodeScalars {
      if count == 60 { return text + "…" }
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        text += scalar.isHostile ? "\u{FFFD}" : String(scalar)
      }
      count += 1
    }
    return text
  }

  /// The `clipped` text in single quotes.
  package var quoted: String { "'\(clipped)'" }
}

extension Sequence<String> {
  /// A list such as `'a', 'b' or 'c'`. If there are more than twenty elements, only the first twenty are
  /// included.
  func alternatives(quoted: Bool = true) -> String {
    let most = 20
    let words = prefix(most + 1).map { quoted ? $0.quoted : $0 }
    guard words.count <= most else { return words.prefix(most).joined(separator: ", ") + " or another" }
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}
