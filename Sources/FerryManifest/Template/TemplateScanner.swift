/// Splits a string at its references: `${…}` is a reference, `$${` stands for `${`, and any other `$` is a
/// dollar sign.
struct TemplateScanner {
  enum Piece: Equatable {
    case text(String)
    /// The text between the braces, and the location of the `$`.
    case expression(String, SourceLocation)
  }

  private(set) var pieces: [Piece] = []
  private(set) var diagnostics: [Diagnostic] = []

  init(_ scalar: YAMLScalar, at location: SourceLocation, in source: SourceText) {
    // Most strings have no reference and need no scan.
    guard scalar.text.contains("${") else {
      if !scalar.text.isEmpty { pieces = [.text(scalar.text)] }
      return
    }
    let letters = Array(scalar.text.unicodeScalars)
    var columns = ColumnMap(scalar, at: location, in: source)
    var text = String.UnicodeScalarView()
    var index = 0
    while index < letters.count {
      guard letters[index] == "$", index + 1 < letters.count else {
        text.append(letters[index])
        index += 1
        continue
      }
      if letters[index + 1] == "$", index + 2 < letters.count, letters[index + 2] == "{" {
        text.append(contentsOf: "${".unicodeScalars)
        index += 3
      } else if letters[index + 1] == "{" {
        let place = columns.location(of: index)
        guard let end = letters[(index + 2)...].firstIndex(of: "}") else {
          diagnostics.append(
            Diagnostic(
              .unclosedReference, at: place, "'${' is not closed",
              help: "close it with '}', or write '$${' for the characters '${'"))
          return
        }
        if !text.isEmpty { pieces.append(.text(String(text))) }
        text = .init()
        var expression = String.UnicodeScalarView()
        expression.append(contentsOf: letters[(index + 2)..<end])
        pieces.append(.expression(String(expression), place))
        index = end + 1
      } else {
        text.append(letters[index])
        index += 1
      }
    }
    if !text.isEmpty { pieces.append(.text(String(text))) }
  }
}
