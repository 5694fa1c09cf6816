/// A string of the manifest after its variables and `for_each` values are substituted, with the location of
/// each character.
///
/// Each value from outside the manifest (from the environment, the command line or the run) is represented
/// by one `outside` character.
struct WrittenText: Sendable {
  /// OBJECT REPLACEMENT CHARACTER.
  static let outside: Unicode.Scalar = "\u{FFFC}"
  /// Longer strings are not examined: secrets are shorter, and variables can grow exponentially.
  static let longest = 1 << 16

  private(set) var letters: [Unicode.Scalar] = []
  /// For each character, the start of the value that contains it.
  private(set) var places: [SourceLocation] = []

  var text: String { text(letters.indices) }

  /// Whether the whole range is written in the manifest.
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
  /// A scalar after its references are substituted. The reader has already validated it.
  ///
  /// - Parameter known: the references resolved so far.
  func writtenText(_ node: YAMLNode, _ known: inout WrittenReferences) -> WrittenText {
    var written = WrittenText()
    guard let scalar = node.scalar else { return written }
    for piece in TemplateScanner(scalar, at: node.location, in: source(of: node.location)).pieces {
      switch piece {
      case .text(let text): written.append(text.unicodeScalars, at: node.location)
      case .expression(let whole, _):
        // A filtered secret is still a secret, so its text before the filters is examined.
        let expression = FilteredExpression(whole).reference
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

  /// Nil if the expression is not a variable of the manifest, or if the command line sets the variable.
  private func variableText(_ expression: String, _ known: inout WrittenReferences) -> WrittenText? {
    guard expression.hasPrefix("vars.") else { return nil }
    let name = String(expression.dropFirst("vars.".count))
    if let text = known.variables[name] { return text }
    guard variables.given[name] == nil, let node = variables.declared[name]?.fallback else { return nil }
    // Cyclic variables are errors, so this terminates.
    let text = writtenText(node, &known)
    known.variables[name] = text
    return text
  }
}
