/// A word of a command line that a person copies.
enum ShellWord {
  /// As sh takes it; with a control character as `$'…'`, which bash, zsh and ksh take and POSIX has since 2024.
  static func text(_ word: String) -> String {
    guard word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return CrontabLine.quoted(word)
    }
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.properties.generalCategory == .control:
        for byte in String(scalar).utf8 {
          let digits = String(byte, radix: 8)
          text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }
}
