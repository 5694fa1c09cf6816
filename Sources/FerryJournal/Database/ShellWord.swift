/// Quotes the words of a command line, for pasting into a shell or for a crontab.
package enum ShellWord {
  package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// The text as one sh word.
  package static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+=:,@".utf8.contains(byte)
      }
    }
    if plain, !word.isEmpty { return word }
    // A shell does not combine Unicode scalars into characters: a quote ends the word even if a combining
    // mark follows it.
    var text = String.UnicodeScalarView("'".unicodeScalars)
    for scalar in word.unicodeScalars {
      if scalar == "'" { text.append(contentsOf: "'\\''".unicodeScalars) } else { text.append(scalar) }
    }
    text.append("'")
    return String(text)
  }
}
