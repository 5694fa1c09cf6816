/// The text between the braces of a `${…}`, divided at each `|`: a reference, then the names of its filters.
struct FilteredExpression {
  let reference: String
  /// The names of the filters as written, without the blanks around them.
  let filters: [String]

  init(_ expression: String) {
    // As characters, `|` and a combining mark after it would be a single character.
    let parts = expression.unicodeScalars.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count > 1 else {
      (reference, filters) = (expression, [])
      return
    }
    reference = Self.withoutBlanksAtEnd(parts[0])
    filters = parts[1...].map { Self.withoutBlanksAtEnd($0.drop(while: Self.isBlank)) }
  }

  private static func isBlank(_ letter: Unicode.Scalar) -> Bool { [" ", "\t", "\n"].contains(letter) }

  private static func withoutBlanksAtEnd(_ letters: Substring.UnicodeScalarView) -> String {
    var rest = letters
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return String(Substring(rest))
  }
}
