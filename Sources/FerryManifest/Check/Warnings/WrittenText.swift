/// A text of the manifest with its variables and what its `for_each` gives put in, which knows of each letter where it is written.
///
/// What is not written in the manifest (the environment, what the command line gives, what a run brings) is one `outside` each.
struct WrittenText: Sendable {
  /// OBJECT REPLACEMENT CHARACTER.
  static let outside: Unicode.Scalar = "\u{FFFC}"
  /// Longer texts are not looked into: nobody writes such a secret, and variables can grow fast.
  static let longest = 1 << 16

  private(set) var letters: [Unicode.Scalar] = []
  /// Of each letter: the start of the value that it is written in.
  private(set) var places: [SourceLocation] = []

  var text: String { text(letters.indices) }

  /// Whether all of it stands in the manifest.
  func isPlain(_ range: Range<Int>) -> Bool { !letters[range].contains(Self.outside) }

  mutating func append(_ text: some Sequence<Unicode.Scalar>, at place: SourceLocation) {
    for letter in text { append(letter, at: place) }
  }

  mutating func append(_ letter: Unicode.Scalar, at place: SourceLocation) {
    guard letters.count < Self.longest else { return }
    letters.append(letters.count == Self.longest - 1 ? Self.outside : letter)
    places.append(place)
  }

  mutating func append(_ other: WrittenText) {
    for (letter, place) in zip(other.letters, other.places) { append(letter, at: place) }
  }
}

extension ManifestDecoder {
  /// A scalar with what its references stand for put in; the reader has found that it is right.
  ///
  /// - Parameter known: what was met before.
  func writtenText(_ node: YAMLNode, _ known: inout WrittenReferences) -> WrittenText {
    var written = WrittenText()
    guard let scalar = node.scalar else { return written }
    for piece in TemplateScanner(scalar, at: node.location, in: source(of: node.location)).pieces {
      switch piece {
      case .text(let text): written.append(text.unicodeScalars, at: node.location)
      case .expression(let expression, _):
        let text =
          expression.hasPrefix("each.")
          ? writtenText(ofEach: expression, &known) : variableText(expression, &known)
        if let text {
          written.append(text)
        } else {
          written.append(WrittenText.outside, at: node.location)
        }
      }
    }
    return written
  }

  /// Nil for what is no variable of the manifest, or is given by the command line.
  private func variableText(_ expression: String, _ known: inout WrittenReferences) -> WrittenText? {
    guard expression.hasPrefix("vars.") else { return nil }
    let name = String(expression.dropFirst("vars.".count))
    if let text = known.variables[name] { return text }
    guard variables.given[name] == nil, let node = variables.declared[name]?.fallback else { return nil }
    // Variables in a circle are errors, so this ends.
    let text = writtenText(node, &known)
    known.variables[name] = text
    return text
  }
}
