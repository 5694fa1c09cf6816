/// The syntax of a JSON pointer (RFC 6901 §3).
enum PointerRule {
  static func problem(_ pointer: String) -> Problem? {
    guard pointer.isEmpty || pointer.utf8.first == UInt8(ascii: "/") else {
      return Problem(
        .invalidPointer, "a JSON pointer must begin with '/'",
        help: "write \(fromPath(pointer).quoted) (RFC 6901)", showsValue: true)
    }
    var letters = pointer.unicodeScalars.makeIterator()
    while let letter = letters.next() {
      guard letter == "~" else { continue }
      guard let next = letters.next(), next == "0" || next == "1" else {
        return Problem(
          .invalidPointer, "'~' is not followed by 0 or 1 in this JSON pointer",
          help: "write '~0' for '~' (RFC 6901)")
      }
    }
    return nil
  }

  /// Converts `$.items[0].id` and `items.id`, the notations of other tools, to a pointer.
  private static func fromPath(_ path: String) -> String {
    let parts = path.split { "$.[]'\"/".contains($0) }
    return parts.map { "/\($0.replacing("~", with: "~0"))" }.joined()
  }
}
