import FerryManifest
import Testing

@Suite struct `A YAML document` {
  private func document(_ bytes: [UInt8]) -> YAMLDocument { YAMLDocument(SourceText(bytes, file: "m.yaml")) }

  private func document(_ text: String) -> YAMLDocument { document(Array(text.utf8)) }

  private func mistakes(_ document: YAMLDocument) -> [String] {
    document.diagnostics.map { "\($0.location.line):\($0.location.column) \($0.message)" }
  }

  @Test func `keeps the place of every key and value`() {
    let input = MarkedText("1️⃣a: 2️⃣x\n3️⃣bé: [4️⃣1, 5️⃣'two']\n6️⃣c:\n  7️⃣- z\n")
    let members = document(input.text).root?.members ?? []
    func place(_ location: FerryManifest.SourceLocation?) -> String {
      location.map { "\($0.line):\($0.column)" } ?? "none"
    }
    #expect(members.map { place($0.key.location) } == ["1️⃣", "3️⃣", "6️⃣"].map(input.place))
    #expect(place(members.first?.value.location) == input.place("2️⃣"))
    #expect(
      members.dropFirst().first?.value.elements?.map { place($0.location) } == ["4️⃣", "5️⃣"].map(input.place))
    #expect(place(members.last?.value.location) == input.place("7️⃣"))
  }

  @Test func `may begin with a byte order mark and end its lines with CRLF`() {
    let plain = document("a: 1\nb: 2\n")
    let windows = document([0xEF, 0xBB, 0xBF] + Array("a: 1\r\nb: 2\r\n".utf8))
    #expect(mistakes(windows).isEmpty)
    #expect(windows.root?.members?.map(\.key) == plain.root?.members?.map(\.key))
    #expect(windows.root?.members?.map(\.key.location) == plain.root?.members?.map(\.key.location))
  }

  @Test func `with NUL or another control character is rejected at its location`() {
    #expect(mistakes(document("a: 1\nb: \0")) == ["2:4 the control character U+0000 is not allowed in YAML"])
    #expect(
      mistakes(document("a: \u{1B}[31m")) == ["1:4 the control character U+001B is not allowed in YAML"])
  }

  @Test func `that is not UTF-8 is rejected at its location`() {
    #expect(
      mistakes(document(Array("é: 1\nb: ".utf8) + [0xC3, 0x28])) == ["2:4 the text is not valid UTF-8"])
    #expect(mistakes(document([0xFF, 0xFE, 0x61, 0x00])) == ["1:1 the text is not valid UTF-8"])
  }

  @Test func `that is empty, or larger than 64 MiB, is rejected`() {
    #expect(mistakes(document("")) == ["1:1 the manifest is empty"])
    #expect(mistakes(document("# nothing\n")) == ["1:1 the manifest is empty"])
    let large = [UInt8](repeating: 0x61, count: (64 << 20) + 1)
    #expect(mistakes(document(large)) == ["1:1 the manifest is larger than 64 MiB"])
  }

  @Test func `has one document only`() {
    #expect(mistakes(document("a: 1\n---\nb: 2\n")) == ["2:1 a second document begins here"])
  }

  @Test func `names the first location of a duplicate key, and continues`() {
    let found = document("a: 1\nb: 2\na: 3\n? [x]\n: 4\n1: 5\n")
    #expect(
      mistakes(found) == [
        "3:1 duplicate key 'a'", "4:3 a key must be a string, found a list",
        "6:1 a key must be a string, found the number 1",
      ])
    #expect(found.diagnostics.first?.notes.map(\.location.line) == [1])
    #expect(found.root?.members?.map(\.key.value) == ["a", "b"])
  }

  @Test func `refuses tabs in the indentation, custom tags and unknown aliases`() {
    #expect(mistakes(document("a:\n\tb: 1\n")) == ["2:1 a tab cannot be used here"])
    #expect(mistakes(document("a: !thing 1\n")) == ["1:4 the tag '!thing' is not supported"])
    #expect(mistakes(document("a: !!binary aGk=\n")).count == 1)
    #expect(mistakes(document("a: *nothing\n")) == ["1:4 there is no anchor '&nothing' before this alias"])
    #expect(mistakes(document("a: &a [*a]\n")) == ["1:8 the alias '*a' is inside its own value"])
  }

  @Test func `accepts an alias for a whole value`() {
    let found = document("a: &x { k: 1 }\nb: *x\n")
    #expect(mistakes(found).isEmpty)
    #expect(found.root?["b"]?["k"]?.scalar?.value == .integer(1))
  }

  @Test func `stops at an alias bomb`() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...20 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) [\(aliases)]\n"
    }
    #expect(
      document(text).diagnostics.map(\.message).first?.hasPrefix("the manifest has more than 250000 values")
        == true)
  }

  @Test(arguments: ["[", "{a: ", "- ", "? "])
  func `stops at a hundred levels, however deep it is nested`(_ opening: String) {
    let found = document(String(repeating: opening, count: 10_000))
    #expect(found.diagnostics.count == 1)
    #expect(found.root == nil)
  }

  @Test func `of many values or one long line is read in linear time`() {
    let many = "a: [" + String(repeating: "x,", count: 200_000) + "]"
    #expect(document(many).root?["a"]?.elements?.count == 200_000)
    let long = "a: \"" + String(repeating: "é", count: 4 << 20) + "\""
    #expect(document(long).root?["a"]?.scalar?.text.unicodeScalars.count == 4 << 20)
  }

  @Test(arguments: [
    "a: [1", "a: 'x", "a: b: c", "- a\nb", "a: @x", "%FOO\n", "a: \"\\q\"", "&", "a: |x", "]", "{a b",
    "---\n...\n---",
  ])
  func `that libyaml cannot read has one place and one remedy`(_ text: String) {
    let found = document(text)
    #expect(found.diagnostics.count == 1)
    #expect(found.diagnostics.first?.help != nil)
  }

  @Test(
    "that libyaml cannot read is reported with a remedy",
    arguments: [
      ("a: *1️⃣.jpg", "an anchor name was expected here"),
      ("a: 1\n...\n1️⃣b: 2", "the document ends before this position"),
      ("{a: 1}\n1️⃣b: 2", "the document ends before this position"),
      ("a: [1️⃣:x]", "a value was expected here"),
      ("1️⃣%FOO x\n---\na: 1", "this directive is unknown"),
      ("1️⃣%YAML 1.3\n---\na: 1", "this version of YAML is not supported"),
      ("a: \"\\x1️⃣ZZ\"", "this escape sequence is not a Unicode character"),
      ("a: \"\\u1️⃣D800\"", "this escape sequence is not a Unicode character"),
      ("a: |1️⃣0\n x", "an indentation indicator of 0 is not allowed"),
      ("a: |1️⃣x", "only a comment is allowed here"),
      ("a: 'x\n1️⃣--- y'", "'---' or '...' begins a line inside quotes"),
      ("a: 1️⃣%x", "this character cannot start a value"),
      ("a: x y1️⃣: z", "a ':' that begins a value is not allowed here"),
      ("- a\n1️⃣b: c", "a '-' was expected here"), ("a: {\n1️⃣", "a value was expected here"),
    ])
  func words(_ marked: String, _ message: String) {
    let input = MarkedText(marked)
    #expect(mistakes(document(input.text)) == ["\(input.place("1️⃣")) \(message)"])
  }
}
