import FerryManifest
import Testing

@Suite struct `All mistakes of a manifest` {
  @Test func `are reported in one reading, at the exact locations, and none because of another`() {
    expectMistakes(
      """
      version: 1
      name: photos
      1️⃣sesions: { quick: {} }
      vars: { api: "2️⃣${env.API}" }
      tokens:
        login:
          session: quick
          request: { url: "${vars.api}/token" }
          capture: 3️⃣[access]
          apply: { header: Authorization, value: "${token.access}" }
      requests:
        a:
          session: quick
          token: login
          request: { url: "http://h/${token.access}/4️⃣${secrets.x}" }
          5️⃣conditions: {}
          needs: [6️⃣b, c]
        c: 7️⃣none
      """,
      [
        ("1️⃣", "unknown key 'sesions'"), ("2️⃣", "environment variable 'API' is not set"),
        ("3️⃣", "'capture' must be a mapping with names as keys, found a list"), ("4️⃣", "unknown secret 'x'"),
        ("5️⃣", "unknown key 'conditions'"), ("6️⃣", "unknown node 'b'"),
        ("7️⃣", "'c' must be a mapping with keys such as 'session', 'token', 'needs', found the string 'none'"),
      ])
  }

  @Test func `have a remedy each`() {
    for text in [
      "[]", "version: 1\nname: 5: 6", "name: x", "version: 1\nname: x\nsessions: 5\nuploads: { u: [] }",
    ] {
      let found = read(text).diagnostics
      #expect(!found.isEmpty)
      #expect(found.allSatisfy { $0.help != nil })
    }
  }

  @Test func `show the path of a cycle`() {
    let found = read(
      head + """
        requests:
          a: { session: quick, needs: [b], request: { url: http://h/ } }
          b: { session: quick, request: { url: "http://h/${requests.a.id}" }, capture: { id: { json: /id } } }
        """
    ).diagnostics
    // Request 'a' captures nothing. Both diagnostics are correct, and each must be reported.
    #expect(
      found.map(\.message) == [
        "dependency cycle: a → b → a", "request 'a' does not capture 'id'",
      ])
    #expect(found.first?.notes.map(\.message) == ["'b' waits for 'a' here"])
  }

  @Test func `of a chain of ten thousand nodes are found without a deep stack`() {
    var text = head + "requests:\n"
    for index in 0..<10_000 {
      text +=
        "  n\(index): { session: quick, needs: [n\((index + 1) % 10_000)], request: { url: http://h/ } }\n"
    }
    #expect(read(text).diagnostics.count == 1)
  }

  @Test func `count two sessions with one identifier among them`() {
    expectMistakes(
      """
      version: 1
      name: n
      sessions: { a: { identifier: x }, b: {}, c: { identifier: 1️⃣x }, d: { identifier: 2️⃣n.b } }
      """,
      [
        ("1️⃣", "another session already has the identifier 'x'"),
        ("2️⃣", "another session already has the identifier 'n.b'"),
      ])
  }

  @Test func `are bounded in number`() {
    let text = head + "requests:\n" + (0..<20_000).map { "  r\($0): 5\n" }.joined()
    #expect(read(text).diagnostics.count == 1_000)
  }
}

@Suite struct `A diagnostic's text` {
  private func text(_ source: String, line: Int, column: Int) -> [String] {
    let place = SourceLocation(file: "m.yaml", line: line, column: column)
    let formatter = DiagnosticFormatter(sources: [SourceText(Array(source.utf8), file: "m.yaml")])
    return formatter.text(
      Diagnostic(.syntax, at: place, "what", help: "how", notes: [.init("there", at: place)])
    )
    .split(separator: "\n").map(String.init)
  }

  @Test func `is headline, line, caret, help and notes`() {
    #expect(
      text("a: 1\nbc: 'x y' # z\n", line: 2, column: 5) == [
        "m.yaml:2:5: error: what [F0106]", "   2 | bc: 'x y' # z", "     |     ^~~~~", "help: how",
        "m.yaml:2:5: note: there",
        "   2 | bc: 'x y' # z", "     |     ^~~~~",
      ])
  }

  @Test func `keeps the caret under its value after tabs and wide letters`() {
    #expect(text("\ta: 1", line: 1, column: 5)[2] == "     | \t   ^")
    #expect(text("名前: x", line: 1, column: 5)[2] == "     |       ^")
    #expect(text("e\u{301}: x", line: 1, column: 5)[2] == "     |    ^")
  }

  @Test func `shortens a long line, and shows no control characters`() {
    let long = String(repeating: "x", count: 1_000_000)
    #expect(text("a: \(long)", line: 1, column: 500_000).allSatisfy { $0.count < 200 })
    #expect(text("a: \u{1B}[31m", line: 1, column: 4)[1] == "   1 | a: \u{FFFD}[31m")
    for hidden in ["\u{202E}", "\u{2066}", "\u{2028}", "\u{2029}", "\u{200B}", "\u{34F}", "\u{E0041}"] {
      let shown = text("\(hidden)a: x", line: 1, column: 5)
      // U+2028 and U+2029 end a line.
      let isBreak = hidden == "\u{2028}" || hidden == "\u{2029}"
      #expect(isBreak || shown[1] == "   1 | \u{FFFD}a: x" && shown[2] == "     |     ^")
      #expect("a\(hidden)b".quoted == "'a\u{FFFD}b'")
    }
    #expect("👨‍👩‍👧 ❤\u{FE0F}".quoted == "'👨‍👩‍👧 ❤\u{FE0F}'")
  }

  @Test func `is complete for a location after the end or in another file`() {
    #expect(text("a: 1", line: 9, column: 9)[1] == "   9 | ")
    let place = SourceLocation(file: "other.yaml", line: 1, column: 1)
    #expect(
      DiagnosticFormatter(sources: []).text(Diagnostic(.syntax, at: place, "what"))
        == "other.yaml:1:1: error: what [F0106]\n")
  }

  @Test func `has a machine-readable form`() {
    let place = SourceLocation(file: "m.yaml", line: 2, column: 3)
    let record = DiagnosticRecord(
      Diagnostic(.syntax, at: place, "what", help: "how", notes: [.init("there", at: place)]))
    #expect(record.severity == .error)
    #expect([record.file, record.message, record.help] == ["m.yaml", "what", "how"])
    #expect([record.line, record.column] == [2, 3])
    #expect(record.notes.map(\.message) == ["there"])
  }
}
