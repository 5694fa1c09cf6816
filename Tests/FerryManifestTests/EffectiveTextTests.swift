import FerryManifest
import Testing

/// Hostile texts and names, in places that accept any text.
@Suite struct `The effective text` {
  private static let words = [
    "null", "~", "true", "no", "On", "0x1F", "0o17", "017", "1e3", ".5", "-.inf", ".nan", "12", "-1", "+1",
    "1:30",
    "2026-01-01", "<<", "=", "", "-", "---", "...", "- a", "? a", ": a", "a: b", "a:", "a #b", "#", " a",
    "a ", "\t",
    "a\tb", "\n", "a\nb", "a\n\n", "\r\n", "\u{85}", "a\u{2028}b", "\u{FEFF}", "\u{A0}", "\0", "\u{1B}[31m",
    "\u{7F}",
    "\u{FFFE}", "\u{1FFFF}", "\u{202E}abc", "👩‍👩‍👧", "\u{301}", "\u{200D}", "é", "e\u{301}", "'", "\"", "it's",
    "\\", "\\n", "%", "@a", "`a",
    "*a", "&a", "!a", "!!str", "|", ">", "{", "}", "[", "]", ",", "a,b", "a, b", "[a]", "{a: b}", "$", "$$",
    "$${", "}",
  ]
  private static let plain = [
    "null", "~", "", "true", "False", "0x1F", "0o17", "017", "1e3", ".5", "-0", "12", "+1", "no", "<", "a b",
  ]

  /// Writes the text in double quotes, with an escape for each code point.
  private static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { letter in
        let code = String(letter.value, radix: 16)
        return "\\U" + String(repeating: "0", count: 8 - code.count) + code
      }.joined() + "\""
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let count = [1, 1, 2, 3, 6].randomElement(using: &random) ?? 1
    let text = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
      // A reference to an unknown value would be an error.
      .replacing("${", with: "$${")
    return Int.random(in: 0..<100, using: &random) == 0 ? String(repeating: text + "x", count: 700) : text
  }

  /// A random value in flow style, nested at most `depth` levels deep.
  private static func value(_ depth: Int, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &random) {
    case 0, 1, 2: return quoted(text(&random))
    case 3: return plain.randomElement(using: &random) ?? ""
    case 4: return ["[]", "{}", "!!str 5", "! x"].randomElement(using: &random) ?? ""
    case 5, 6: return mapping(depth, &random) { value(depth - 1, &$0) }
    default:
      let elements = (0..<Int.random(in: 1...5, using: &random)).map { _ in value(depth - 1, &random) }
      return "[ \(elements.map { $0.isEmpty ? "~" : $0 }.joined(separator: ", ")) ]"
    }
  }

  private static func mapping(
    _ size: Int, _ random: inout SeededGenerator, value: (inout SeededGenerator) -> String
  ) -> String {
    let keys = Set((0...size).map { _ in text(&random) })
    let members = keys.sorted().map { "? \(quoted($0)) : \(value(&random))" }
    return "{ \(members.joined(separator: ", ")) }"
  }

  @Test(arguments: 1...12)
  func `of hostile texts and names is read back as the same manifest`(_ seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    for _ in 0..<20 {
      let json = Self.value(4, &random)
      let form = Self.mapping(5, &random) { Self.quoted(Self.text(&$0)) }
      let reading = try EffectiveReading(
        head + """
          vars: { a: \(Self.quoted(Self.text(&random))) }
          requests:
            j: { session: quick, request: { url: "http://h/", json: \(json.isEmpty ? "~" : json) } }
            f: { session: long, request: { url: "http://h/", form: \(form) } }
          """)
      try reading.expectSame()
    }
  }

  @Test func `of texts at the bounds of keys and depth is read back`() throws {
    for count in [999, 1_000, 1_001, 1_024, 5_000] {
      let key = String(repeating: "k", count: count)
      let depth = String(repeating: "[", count: 90) + "1" + String(repeating: "]", count: 90)
      try EffectiveReading(
        head + """
          requests:
            r: { session: quick, request: { url: "http://h/", json: [{ ? \(key) : [{ ? "\(key)" : 1 }], b: \(depth) }] } }
          """
      ).expectSame()
    }
  }
}
