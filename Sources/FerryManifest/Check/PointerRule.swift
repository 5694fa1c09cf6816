/// What a JSON pointer must look like (RFC 6901 §3).
enum PointerRule {
  static func problem(_ pointer: String) -> (message: String, help: String)? {
    guard pointer.isEmpty || pointer.hasPrefix("/") else {
      return ("a JSON pointer begins with '/'", "write '/\(pointer.clipped)' (RFC 6901)")
    }
    var letters = pointer.unicodeScalars.makeIterator()
    while let letter = letters.next() {
      guard letter == "~" else { continue }
      guard let next = letters.next(), next == "0" || next == "1" else {
        return ("'~' is not followed by 0 or 1 in this JSON pointer", "write '~0' for '~' (RFC 6901)")
      }
    }
    return nil
  }
}
