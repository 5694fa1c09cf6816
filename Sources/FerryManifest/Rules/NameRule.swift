/// The rules for names that the author chooses. They are used in file names and references.
enum NameRule {
  /// The problem with a name; `nil` if it is valid.
  ///
  /// - Parameter allowsDots: true for the manifest's name and for session identifiers, because references do
  ///   not split them at dots.
  static func problem(_ name: String, allowsDots: Bool) -> Problem? {
    let letters =
      allowsDots ? "ASCII letters, digits, '_', '-' and '.'" : "ASCII letters, digits, '_' and '-'"
    guard !name.isEmpty, name.utf8.count <= 100 else {
      return Problem(
        .invalidName, "a name must have 1 to 100 characters",
        help: "choose a \(name.isEmpty ? "name" : "shorter name")")
    }
    if let wrong = name.first(where: { letter in
      !letter.utf8.allSatisfy { isLetter($0) || (allowsDots && $0 == 0x2E) }
    }) {
      let what = wrong == " " ? "a space" : String(wrong).quoted
      return Problem(
        .invalidName, "a name cannot contain \(what)", help: "use only \(letters)",
        showsValue: true)
    }
    if name.hasPrefix(".") || name.contains("..") {
      return Problem(
        .invalidName, "a name cannot begin with a dot or contain two dots in a row",
        help: "the name is used as a file name; remove the dots")
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
