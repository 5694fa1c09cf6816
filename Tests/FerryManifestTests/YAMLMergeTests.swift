import FerryManifest
import Testing

@Suite struct `Aliases and merge keys` {
  private func document(_ text: String) -> YAMLDocument {
    YAMLDocument(SourceText(Array(text.utf8), file: "m.yaml"))
  }

  private func root(
    _ text: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) -> YAMLNode? {
    let found = document(text)
    #expect(found.diagnostics.map(\.message) == [], sourceLocation: sourceLocation)
    return found.root
  }

  /// `key=value` of each member, in order.
  private func members(_ node: YAMLNode?) -> [String] {
    (node?.members ?? []).map { "\($0.key.value)=\($0.value.scalar?.text ?? "…")" }
  }

  /// Compares the mistakes of a marked text with the expected ones: location, message and locations of notes.
  private func expect(
    _ marked: String, _ expected: [(Character, String, [Character])],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let input = MarkedText(marked)
    let found = document(input.text).diagnostics.map {
      "\(place($0.location)) \($0.message) \($0.notes.map { place($0.location) })"
    }
    let wanted = expected.map { "\(input.place($0.0)) \($0.1) \($0.2.map(input.place))" }
    #expect(found == wanted, sourceLocation: sourceLocation)
    #expect(document(input.text).diagnostics.allSatisfy { $0.help != nil }, sourceLocation: sourceLocation)
  }

  private func place(_ location: FerryManifest.SourceLocation?) -> String {
    location.map { "\($0.line):\($0.column)" } ?? "none"
  }

  @Test func `insert the members of a mapping at the merge key`() {
    let found = root("a: &a { x: 1, y: 2 }\nb:\n  first: 0\n  <<: *a\n  last: 9\n")
    #expect(members(found?["b"]) == ["first=0", "x=1", "y=2", "last=9"])
    #expect(members(root("<<: { x: 1 }\ny: 2\n")) == ["x=1", "y=2"])
  }

  @Test func `are overridden by explicit keys, wherever these are`() {
    let before = root("a: &a { x: 1, y: 2 }\nb: { y: 3, <<: *a }\n")
    #expect(members(before?["b"]) == ["y=3", "x=1"])
    let behind = root("a: &a { x: 1, y: 2 }\nb: { <<: *a, y: 3 }\n")
    #expect(members(behind?["b"]) == ["x=1", "y=3"])
  }

  @Test func `of a list are overridden by earlier ones`() {
    let found = root("a: &a { x: 1, y: 1 }\nb: &b { y: 2, z: 2 }\nc: { <<: [*a, *b, { z: 3, w: 3 }] }\n")
    #expect(members(found?["c"]) == ["x=1", "y=1", "z=2", "w=3"])
    let byName = root("l: &l [{ x: 1 }, { x: 2, y: 2 }]\nc: { <<: *l }\n")
    #expect(members(byName?["c"]) == ["x=1", "y=2"])
    #expect(members(root("a: 1\n<<: []\n")) == ["a=1"])
  }

  @Test func `go through several levels`() {
    let found = root("a: &a { x: 1 }\nb: &b { <<: *a, y: 2 }\nc: { <<: *b, x: 3 }\n")
    #expect(members(found?["c"]) == ["y=2", "x=3"])
  }

  @Test(arguments: ["\"<<\"", "'<<'", "!!str <<", "<<<", "<"])
  func `are only the plain '<<'`(_ key: String) {
    #expect(root("\(key): 1\n")?.members?.count == 1)
    #expect(root("a: &a { x: 1 }\n\(key): *a\n")?["x"] == nil)
  }

  @Test func `keep the place of the value and of the alias that brought it`() {
    let input = MarkedText(
      """
      a: &a 1️⃣{ x: 2️⃣1, y: &y 2 }
      b: 3️⃣*a
      c: { <<: 4️⃣*a, z: 5️⃣3, own: 6️⃣*y }
      d: { <<: [7️⃣*a, { w: 8️⃣*y, v: 9️⃣1 }] }
      l: &l [*a]
      e: { <<: 0️⃣*l }
      """)
    let found = root(input.text)
    #expect(found?["a"]?.use == nil)
    #expect(place(found?["b"]?.use) == input.place("3️⃣"))
    #expect(found?["b"]?.location == found?["a"]?.location)
    // Only the value that an alias inserts has a location of use; the nodes inside the value do not.
    #expect(found?["b"]?["x"]?.use == nil)
    #expect(place(found?["b"]?["x"]?.location) == input.place("2️⃣"))
    #expect(place(found?["c"]?["x"]?.location) == input.place("2️⃣"))
    #expect(place(found?["c"]?["x"]?.use) == input.place("4️⃣"))
    #expect(found?["c"]?["z"]?.use == nil)
    #expect(place(found?["c"]?["own"]?.use) == input.place("6️⃣"))
    #expect(place(found?["d"]?["x"]?.use) == input.place("7️⃣"))
    #expect(place(found?["d"]?["w"]?.use) == input.place("8️⃣"))
    #expect(found?["d"]?["v"]?.use == nil)
    #expect(place(found?["e"]?["x"]?.use) == input.place("0️⃣"))
  }

  @Test func `of aliases in aliases, keep the outermost place outside and the others inside`() {
    let input = MarkedText("a: &a { k: 1 }\nb: &b [1️⃣*a]\nc: 2️⃣*b\n")
    let found = root(input.text)
    #expect(place(found?["c"]?.use) == input.place("2️⃣"))
    #expect(place(found?["c"]?.elements?.first?.use) == input.place("1️⃣"))
  }

  @Test func `merge only mappings`() {
    let none = "'<<' requires a mapping or a list of mappings, found"
    let list = "'<<' requires a mapping or a list of mappings, this list contains"
    expect("a: { <<: 1️⃣5 }\n", [("1️⃣", "\(none) the number 5", [])])
    expect("a:\n  <<:1️⃣\n", [("1️⃣", "\(none) nothing", [])])
    expect("x: 2️⃣&x text\na: { <<: 1️⃣*x }\n", [("1️⃣", "\(none) the string 'text'", ["2️⃣"])])
    expect("a: { <<: [{ b: 1 }, 1️⃣[{}]] }\n", [("1️⃣", "\(list) a list", [])])
    expect("x: &x [2️⃣5]\na: { <<: 1️⃣*x }\n", [("1️⃣", "\(list) the number 5", ["2️⃣"])])
    #expect(document("a: { <<: 5 }\n").diagnostics.map(\.code) == [.mergeOfNoMapping])
  }

  @Test func `are a mistake if there are two in one mapping, or a key is duplicated`() {
    expect(
      "a: &a { x: 1 }\nb:\n  1️⃣<<: *a\n  2️⃣<<: *a\n", [("2️⃣", "duplicate key '<<'", ["1️⃣"])])
    expect(
      "a: &a { x: 1 }\nb:\n  1️⃣x: 2\n  <<: *a\n  2️⃣x: 3\n",
      [("2️⃣", "duplicate key 'x'", ["1️⃣"])])
  }

  @Test func `of a name that is defined twice use the later value`() {
    #expect(members(root("a: &x 1\nb: *x\nc: &x 2\nd: *x\n")) == ["a=1", "b=1", "c=2", "d=2"])
    #expect(members(root("a: &x [&x 1]\nb: *x\n")) == ["a=…", "b=1"])
    expect(
      "a: &x 1\nb: 1️⃣&x [2️⃣*x]\n", [("2️⃣", "the alias '*x' is inside its own value", ["1️⃣"])])
  }

  @Test func `name both locations of an invalid key or loop`() {
    expect("a: 2️⃣&x [1]\n1️⃣*x : 1\n", [("1️⃣", "a key must be a string, found a list", ["2️⃣"])])
    expect("a: 2️⃣&x { <<: 1️⃣*x }\n", [("1️⃣", "the alias '*x' is inside its own value", ["2️⃣"])])
    expect("1️⃣*x", [("1️⃣", "there is no anchor '&x' before this alias", [])])
  }

  @Test func `stop at a merge bomb`() {
    var text = "a0: &a0 { k: v }\n"
    for level in 1...20 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) { k\(level): v, <<: [\(aliases)] }\n"
    }
    #expect(document(text).diagnostics.map(\.code) == [.tooManyValues])
  }

  @Test func `stop at a hundred levels, even if each adds only a few`() {
    var text = "a0: &a0 []\n"
    for level in 1...200 { text += "a\(level): &a\(level) [*a\(level - 1)]\n" }
    let found = document(text)
    #expect(found.diagnostics.map(\.code) == [.nestedTooDeep])
    #expect(found.root == nil)
  }
}
