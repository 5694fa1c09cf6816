import Testing

@testable import FerryManifest

@Suite struct `The place of a reference` {
  /// The references in all scalars of a text, with the locations that the scanner finds; `nil` if the text is not YAML.
  private func found(in text: String) -> [String: String]? {
    let source = SourceText(Array(text.utf8), file: "m.yaml")
    let document = YAMLDocument(source)
    guard document.diagnostics.isEmpty, let root = document.root else { return nil }
    var places: [String: String] = [:]
    var left = [root]
    while let node = left.popLast() {
      switch node.content {
      case .sequence(let elements): left += elements
      case .mapping(let members): left += members.map(\.value)
      case .scalar(let scalar):
        for case .expression(let name, let place) in TemplateScanner(scalar, at: node.location, in: source)
          .pieces
        {
          places[name] = "\(place.line):\(place.column)"
        }
      }
    }
    return places
  }

  /// Checks that the scanner finds each marked `${…}` at its mark.
  private func expect(
    _ marked: String, _ names: [Character: String] = ["1️⃣": "a"],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    let input = MarkedText(marked)
    let wanted = Dictionary(names.map { ($0.value, input.place($0.key)) }) { $1 }
    #expect(found(in: input.text) == wanted, sourceLocation: sourceLocation)
  }

  @Test(arguments: [
    "|\n  x 1️⃣${a}\n", "|\n\n \n  é\n    1️⃣${a}\n", "|2\n     x\n  1️⃣${a}\n", "|-\n  x\n\n  y$ 1️⃣${a}",
    "|+ # ${no}\n  1️⃣${a}\n\n", ">\n  x\n  y\n\n\n    z\n  1️⃣${a}\n", ">-1\n   x\n \n \t1️⃣${a}\n",
    "&x |\n  1️⃣${a}\n",
    "&x # ${no}\n  !!str >\n  $\n  {1️⃣${a}\n", "|\r\n  x\r\n\r\n  é 1️⃣${a}\r\n", "|\n  x\u{2028}  1️⃣${a}\n",
  ])
  func `is exact in block scalars`(_ scalar: String) {
    expect("k: \(scalar)")
    expect("- \(scalar)")
  }

  @Test(arguments: [
    "http://h/1️⃣${a}", "x\n  y  \n\n\n   é 1️⃣${a} # ${no}", "&x 1️⃣${a}", "!!str &x # ${no}\n  1️⃣${a}",
    "'it''s 1️⃣${a}'", "'x\n\n  ''\t\n  1️⃣${a}'", "&x 'é1️⃣${a}'", "x\r\n  y 1️⃣${a}",
  ])
  func `is exact in plain and single-quoted scalars of one or several lines`(_ scalar: String) {
    expect("k: \(scalar)\n")
    expect("- \(scalar)\n")
  }

  @Test(arguments: [
    #""1️⃣${a}""#, #""\"\\\x41\u00e9\U0001F600\t1️⃣${a}""#, "\"x  \n  \n\n  \ty 1️⃣${a}\"",
    "\"x \\\n   y\\\n\n\n   \\  1️⃣${a}\"", "\"x\r\n\r\n  é\\\r\n  1️⃣${a}\"", #""1️⃣\x24{a}""#,
    #""1️⃣\u0024\x7ba}""#,
    "\"1️⃣$\\\n   {a}\"", "&x \"é 1️⃣${a}\"", "\n  # ${no}\n  \"1️⃣${a}\"", "\"x\u{85}  1️⃣${a}\"",
  ])
  func `is exact in double-quoted scalars, escapes and folded lines counted`(_ scalar: String) {
    expect("k: \(scalar)\n")
    expect("k: { l: [\(scalar)] }\n")
  }

  @Test func `is exact for each of several, and for those in an aliased value`() {
    expect(
      "k: &k >\n  1️⃣${a}$${no}2️⃣${b}\n  3️⃣${c}\nl: *k\n", ["1️⃣": "a", "2️⃣": "b", "3️⃣": "c"])
    expect("k: \"1️⃣${a}\\n2️⃣${b}\n  3️⃣${c}\"\n", ["1️⃣": "a", "2️⃣": "b", "3️⃣": "c"])
  }

  @Test func `is the scalar's start if the text differs from the source`() {
    let source = SourceText(Array("k: \"x ${a}\"\n".utf8), file: "m.yaml")
    let node = YAMLDocument(source).root?["k"]
    guard let node, let scalar = node.scalar else {
      Issue.record("no scalar")
      return
    }
    for other in ["k: 'x ${a}'\n", "k: \"${a} x\"\n", "k: \"\n", ""] {
      let pieces = TemplateScanner(
        scalar, at: node.location, in: SourceText(Array(other.utf8), file: "m.yaml")
      ).pieces
      #expect(pieces.last == .expression("a", node.location))
    }
    let elsewhere = SourceText(source.bytes, file: "other.yaml")
    #expect(
      TemplateScanner(scalar, at: node.location, in: elsewhere).pieces.last == .expression("a", node.location)
    )
  }

  @Test func `is found in linear time, in a long line and in a long block`() {
    let one = "k: \"" + String(repeating: "é${a}", count: 100_000) + "\"\n"
    #expect(found(in: one) == ["a": "1:\(5 + 99_999 * 5 + 1)"])
    let many = "k: [" + String(repeating: "'é${a}',", count: 20_000) + "]\n"
    #expect(found(in: many)?.count == 1)
    let block = "k: |\n" + String(repeating: "  é${a}\n", count: 100_000)
    #expect(found(in: block) == ["a": "100001:4"])
  }

  @Test(arguments: 1...16)
  func `is exact in random texts`(_ seed: UInt64) {
    var random = SeededGenerator(state: seed &* 0x9E37_79B9_7F4A_7C15)
    var read = 0
    for _ in 0..<150 {
      var writer = ScalarWriter(random: random)
      let text = writer.document()
      random = writer.random
      guard let found = found(in: text) else { continue }
      read += 1
      let wanted = ScalarWriter.places(of: writer.names, in: text)
      #expect(found == wanted, "\(text.debugDescription)")
    }
    #expect(read > 50)
  }
}
