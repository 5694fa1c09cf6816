/// Writes scalars of every style over several lines. They contain references with different names.
struct ScalarWriter {
  var random: SeededGenerator
  private(set) var names: [String] = []

  init(random: SeededGenerator) { self.random = random }

  /// A mapping of three keys to sequences of one random scalar each.
  mutating func document() -> String {
    let end = ["\n", "\r\n"].randomElement(using: &random) ?? "\n"
    let text = (0..<3).map { "k\($0):\n  - \(scalar())\n" }.joined()
    return text.replacing("\n", with: end)
  }

  private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

  private mutating func scalar() -> String {
    let property = pick(["", "", "&x ", "!!str ", "&x # ${no}\n    "])
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return property + block("|")
    case 1: return property + block(">")
    case 2: return property + "'" + flow(pieces: ["''", "$$a", "\"", "\\", "{"]) + "'"
    case 3: return property + "x" + flow(pieces: ["'", "$a", "\\x", "\"", "{"]) + "x"
    default:
      let escapes = [
        "\\\"", "\\\\", "\\x24a", "\\u00e9", "\\U0001F600", "\\t", "\\\n", "\\ ", "$a", "'", "$$a", "{",
      ]
      return property + "\"" + flow(pieces: escapes) + "\""
    }
  }

  private mutating func block(_ sign: String) -> String {
    var text = sign + pick(["", "-", "+", "1", "1-", "+1"]) + pick(["", " # ${no}"]) + "\n"
    for _ in 0..<Int.random(in: 1...7, using: &random) {
      let indentation = pick(["    ", "    ", "    ", "     ", "       ", "    \t", "   "])
      text +=
        pick(["", "", "\n", "  \n", "      \n"]) + indentation + words(["$a", "$$a", "'", "\\", "{", "b#"])
        + "\n"
    }
    return text
  }

  private mutating func flow(pieces: [String]) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      text += words(pieces) + pick(["", " ", " \t", "\n    ", " \n      ", "\n\n    ", " \n  \n\n    \t"])
    }
    return text
  }

  private mutating func words(_ pieces: [String]) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      if Int.random(in: 0..<3, using: &random) == 0 {
        names.append("n\(names.count)")
        text += "${\(names[names.count - 1])}"
      } else {
        text += pick(pieces + ["a", "é", "😀", " ", "b c", "\u{2028}    "])
      }
    }
    return text
  }

  /// The location of each name after a `${`, as `line:column`. It is found by searching the text, without a YAML
  /// reader.
  static func places(of names: [String], in text: String) -> [String: String] {
    let letters = Array(text.unicodeScalars)
    var places: [String: String] = [:]
    var (line, column) = (1, 1)
    for (index, letter) in letters.enumerated() {
      if letter == "$", index + 1 < letters.count, letters[index + 1] == "{",
        index == 0 || letters[index - 1] != "$"
      {
        let name = String(String.UnicodeScalarView(letters[(index + 2)...].prefix { $0 != "}" }))
        if names.contains(name) { places[name] = "\(line):\(column)" }
      }
      if letter == "\n" || letter == "\u{2028}" { (line, column) = (line + 1, 1) } else { column += 1 }
    }
    return places
  }
}
