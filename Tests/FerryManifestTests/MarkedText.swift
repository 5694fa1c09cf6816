import FerryManifest

/// A text with marks such as 1️⃣, which tests use to name positions instead of counting columns.
struct MarkedText {
  let text: String
  private let places: [Character: SourceLocation]

  init(_ marked: String, file: String = "m.yaml") {
    var text = ""
    var places: [Character: SourceLocation] = [:]
    var line = 1
    var column = 1
    for letter in marked {
      if letter.unicodeScalars.contains("\u{20E3}") {
        places[letter] = SourceLocation(file: file, line: line, column: column)
        continue
      }
      text.append(letter)
      if letter.isNewline {
        line += 1
        column = 1
      } else {
        column += letter.unicodeScalars.count
      }
    }
    self.text = text
    self.places = places
  }

  /// The location of a mark; `nil` if the text does not contain the mark.
  func location(_ mark: Character) -> SourceLocation? { places[mark] }

  /// The location of a mark as `line:column`, or a message if the text does not contain the mark.
  func place(_ mark: Character) -> String {
    places[mark].map { "\($0.line):\($0.column)" } ?? "no mark \(mark)"
  }
}
