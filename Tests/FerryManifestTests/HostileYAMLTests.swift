import FerryManifest
import Testing

@Suite struct `Hostile YAML` {
  private func document(_ bytes: [UInt8]) -> YAMLDocument { YAMLDocument(SourceText(bytes, file: "m.yaml")) }

  private func document(_ text: String) -> YAMLDocument { document(Array(text.utf8)) }

  /// `line:column code` of each mistake. Each mistake must have a remedy.
  private func mistakes(
    _ document: YAMLDocument, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) -> [String] {
    #expect(document.diagnostics.allSatisfy { $0.help != nil }, sourceLocation: sourceLocation)
    return document.diagnostics.map { "\($0.location.line):\($0.location.column) \($0.code)" }
  }

  private func mistakes(
    _ text: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) -> [String] { mistakes(document(text), sourceLocation: sourceLocation) }

  /// A mapping of exactly `count` bytes with a single long value.
  private func scalar(bytes count: Int) -> [UInt8] {
    Array("a: \"".utf8) + [UInt8](repeating: 0x78, count: count - 5) + Array("\"".utf8)
  }

  @Test(.timeLimit(.minutes(1)))
  func `with one scalar of 64 MiB is read, and with one more byte is rejected`() {
    let largest = document(scalar(bytes: 64 << 20))
    #expect(mistakes(largest) == [])
    #expect(largest.root?["a"]?.scalar?.text.utf8.count == (64 << 20) - 5)
    #expect(mistakes(document(scalar(bytes: 64 << 20 + 1))) == ["1:1 manifestTooLarge"])
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["[", "{a: ", "- ", "? ", "- - ", "? - "])
  func `nested ten thousand deep is rejected at a hundred levels`(_ opening: String) {
    let found = document(String(repeating: opening, count: 10_000))
    #expect(found.diagnostics.map(\.code) == [.nestedTooDeep])
    #expect(found.root == nil)
  }

  @Test func `that is closed ten thousand times is rejected at the first`() {
    #expect(document(String(repeating: "]", count: 10_000)).diagnostics.map(\.code) == [.syntax])
  }

  @Test func `with a truncated or invalid UTF-8 sequence is rejected at its location`() {
    #expect(mistakes(document(Array("a: é".utf8) + [0xC3])) == ["1:5 invalidUTF8"])
    // An overlong encoding, a surrogate, a code point beyond U+10FFFF, and a lone continuation byte.
    for bytes: [UInt8] in [
      [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
    ] {
      #expect(mistakes(document(Array("a:\n  ".utf8) + bytes)) == ["2:3 invalidUTF8"])
    }
  }

  @Test func `with a byte order mark is read if it comes first, and rejected otherwise`() {
    #expect(mistakes("\u{FEFF}a: 1\n") == [])
    #expect(document("\u{FEFF}a: 1\n").root?.location.column == 1)
    #expect(mistakes("\u{FEFF}\u{FEFF}a: 1\n") == ["1:1 forbiddenCharacter"])
    #expect(mistakes("a: 1\n\u{FEFF}b: 2\n") == ["2:1 forbiddenCharacter"])
    #expect(mistakes("a: 'x\u{FEFF}'\n") == ["1:6 forbiddenCharacter"])
    #expect(mistakes("a: \"\\uFEFF\"\n") == [])
  }

  @Test func `with NUL is rejected at the NUL`() {
    #expect(mistakes("\0") == ["1:1 forbiddenCharacter"])
    #expect(mistakes("a: |\r\n  x\0y\r\n") == ["2:4 forbiddenCharacter"])
    #expect(mistakes("# x\0\na: 1\n") == ["1:4 forbiddenCharacter"])
    #expect(document("a: \"\\0\"").root?["a"]?.scalar?.text == "\0")
  }

  @Test(arguments: ["\n", "\r\n", "\r", "\u{85}", "\u{2028}"])
  func `has the same places, however its lines end`(_ end: String) {
    let found = document("a: 1\n\nbé:\n  - 'x\n    y'\n  - { c: d }\n".replacing("\n", with: end))
    #expect(mistakes(found) == [])
    let items = found.root?["bé"]?.elements
    #expect(items?.map { "\($0.location.line):\($0.location.column)" } == ["4:5", "6:5"])
    #expect(items?.last?["c"]?.location.column == 10)
  }

  @Test func `with tabs is rejected only where a tab is invalid`() {
    #expect(mistakes("a:\n\tb: 1\n") == ["2:1 tab"])
    #expect(mistakes("a:\n  - b\n\t- c\n") == ["3:1 tab"])
    #expect(mistakes("\ta: 1\n") == ["1:1 tab"])
    #expect(mistakes("a: [1,\t2]\t# x\nb:\t'x\ty'\n") == [])
  }

  @Test func `with a key a thousand times reports each, and uses the first`() {
    let found = document(String(repeating: "a: 1\n", count: 1_000))
    #expect(found.diagnostics.map(\.code) == Array(repeating: .duplicateKey, count: 999))
    #expect(found.root?.members?.count == 1)
    #expect(mistakes("{ a: 1, \"a\": 2 }") == ["1:9 duplicateKey"])
    #expect(mistakes("a: &x b\n*x : 1\nb: 2\n") == ["3:1 duplicateKey"])
  }

  @Test(arguments: [
    "~: 1", "[x]: 1", "{x: y}: 1", "? - x\n: 1", "5: 1", "1.5: 1", ".inf: 1", "0x1F: 1", "true: 1", "? \n: 1",
    "!!int \"5\": 1",
  ])
  func `with a key that is no string is rejected, with a remedy`(_ text: String) {
    let found = document(text + "\nb: 2\n")
    #expect(mistakes(found).map { $0.split(separator: " ").last } == ["keyNotString"])
    #expect(found.root?.members?.map(\.key.value) == ["b"])
  }

  @Test(arguments: ["5", "~", "true", "yes", "null", "[x]"])
  func `with such a key in quotes is read, and 'null' and 'yes' are words`(_ key: String) {
    let found = document("\"\(key)\": 1\n")
    #expect(mistakes(found) == [])
    #expect(found.root?.members?.map(\.key.value) == [key])
  }

  @Test func `of more than one document is refused at the second`() {
    #expect(mistakes("a: 1\n---\n") == ["2:1 secondDocument"])
    #expect(mistakes("---\n---\n") == ["2:1 secondDocument"])
    #expect(mistakes("a: 1\n...\n---\nb: 1\n") == ["3:1 secondDocument"])
    #expect(mistakes("a: 1\n...\n") == [])
  }

  @Test(arguments: ["!x", "!!x", "!<tag:example.com,2000:x>", "!!binary", "!!set", "!!omap", "!!timestamp"])
  func `with a tag outside the core schema is rejected at the tag`(_ tag: String) {
    #expect(mistakes("a: \(tag) x\n") == ["1:4 unknownTag"])
    #expect(mistakes("a: \(tag) [x]\n") == ["1:4 unknownTag"])
    #expect(mistakes("a: \(tag) {}\n") == ["1:4 unknownTag"])
  }

  @Test func `with a tag that does not fit its value is rejected`() {
    #expect(mistakes("a: !!int x\n") == ["1:4 tagMismatch"])
    #expect(mistakes("a: !!bool yes\n") == ["1:4 tagMismatch"])
    #expect(mistakes("a: !!seq {}\n").count == 1)
    #expect(mistakes("a: !h!x y\n") == ["1:4 syntax"])
  }

  @Test func `with directives is read, if YAML 1_1 and 1_2 have them`() {
    #expect(mistakes("%YAML 1.1\n---\na: yes\n") == [])
    #expect(document("%YAML 1.1\n---\na: yes\n").root?["a"]?.scalar?.value == .string)
    #expect(mistakes("%YAML 1.2\n%TAG !y! tag:yaml.org,2002:\n---\na: !y!str 5\n") == [])
    #expect(mistakes("%YAML 1.3\n---\na: 1\n") == ["1:1 syntax"])
    #expect(mistakes("%YAML 2.0\n---\na: 1\n") == ["1:1 syntax"])
    #expect(mistakes("%OTHER x\n---\na: 1\n") == ["1:1 syntax"])
    #expect(mistakes("%YAML 1.2\n%YAML 1.2\n---\na: 1\n") == ["2:1 syntax"])
    #expect(mistakes("%YAML 1.2\na: 1\n") == ["2:1 syntax"])
  }

  @Test func `that libyaml would misread is rejected`() {
    #expect(mistakes("a: [?x, y]\n") == ["1:5 syntax"])
    #expect(mistakes("a: { ?x: y }\n") == ["1:6 syntax"])
    #expect(mistakes("a: &b:c d\n") == ["1:6 syntax"])
    #expect(mistakes("a: { ? x: y }\nb: &b :c\n?x: y\n? z\n: &e\n  :f\n") == [])
  }

  @Test func `with numbers out of range gets no wrong number`() {
    func value(_ text: String) -> YAMLScalar.Value? { document("a: \(text)\n").root?["a"]?.scalar?.value }
    #expect(value("9223372036854775807") == .integer(.max))
    #expect(value("-9223372036854775808") == .integer(.min))
    #expect(value("9223372036854775808") == .hugeInteger)
    #expect(value("-9223372036854775809") == .hugeInteger)
    #expect(value(String(repeating: "9", count: 100_000)) == .hugeInteger)
    #expect(value("0x8000000000000000") == .hugeInteger)
    #expect(value("0o1000000000000000000000") == .hugeInteger)
  }

  @Test(arguments: ["", "\n\n", "# x\n", "  # x\n\n# y", "\u{FEFF}", "\u{FEFF}# x\n"])
  func `that has no value is reported as empty`(_ text: String) {
    #expect(mistakes(text) == ["1:1 emptyManifest"])
  }

  @Test(arguments: ["---", "--- \n", "---\n...\n", "--- # x\n", "--- ~\n", "--- !!null\n"])
  func `that is one empty document is read as null`(_ text: String) {
    let found = document(text)
    #expect(mistakes(found) == [])
    #expect(found.root?.isNull == true)
  }

  @Test(arguments: ["*x", "--- *x\n", "- *x", "*x : 1\n"])
  func `that is an undefined alias gets only that diagnostic`(_ text: String) {
    #expect(document(text).diagnostics.map(\.code) == [.unknownAlias])
  }
}
