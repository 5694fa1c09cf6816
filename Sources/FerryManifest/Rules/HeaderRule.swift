/// The rules for names of header fields.
enum HeaderRule {
  /// Returns the problem with the name of a header field; `nil` if the name is allowed.
  ///
  /// - Parameter isSet: whether the manifest sets the field rather than reading it from a response.
  static func problem(_ name: String, isSet: Bool) -> Problem? {
    guard isToken(name) else {
      return Problem(
        .invalidHeaderName, "\(name.quoted) is not a valid header name",
        help: "use letters, digits and '-' (RFC 9110 §5.1)",
        showsValue: true)
    }
    guard isSet else { return nil }
    switch name.lowercased() {
    case "content-length":
      return Problem(
        .ownHeader, "'\(name)' is set by ferry", help: "remove it; ferry determines the length of the body")
    case "host":
      return Problem(
        .ownHeader, "'\(name)' is set by ferry", help: "remove it; ferry derives it from the URL")
    case "transfer-encoding":
      return Problem(
        .ownHeader, "'\(name)' is set by ferry",
        help: "remove it; the connection determines how a body is framed")
    default:
      return nil
    }
  }

  /// Whether the text is a token (RFC 9110 §5.6.2).
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
