/// The rules for names that the author chooses. Names become file names, and words in references.
enum NameRule {
  /// The problem with a name; `nil` if it is valid.
  ///
  /// - Parameter allowsDots: true for the manifest's name and for session identifiers, which no reference
  ///   splits at dots.
  static func problem(_ name: String, allowsDots: Bool) -> Problem? {
    let letters = allowsDots ? "letters, digits, '_', '-' and '.'" : "letters, digits, '_' and '-'"
    guard !name.isEmpty, name.utf8.count <= 100 else {
      return Problem(
        .invalidName, "a name has 1 to 100 letters",
        help: "choose a \(name.isEmpty ? "name" : "shorter name")")
    }
    if let wrong = name.first(where: { letter in
      !letter.utf8.allSatisfy { isLetter($0) || (allowsDots && $0 == 0x2E) }
    }) {
      let what = wrong == " " ? "a space" : String(wrong).quoted
      return Problem(
        .invalidName, "a name cannot have \(what) in it", help: "use only \(letters) of ASCII",
        showsValue: true)
    }
    if name.hasPrefix(".") || name.contains("..") {
      return Problem(
        .invalidName, "a name cannot begin with a dot or have two in a row",
        help: "it becomes a file's name; remove the dots")
    }
    return nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
    default: false
    }
  }
}
