/// What a header field may be called.
enum HeaderRule {
  /// - Parameter isSet: the manifest sets it, rather than looks for it in an answer.
  static func problem(_ name: String, isSet: Bool) -> (message: String, help: String)? {
    guard isToken(name) else {
      return ("\(name.quoted) is no header's name", "use letters, digits and '-' (RFC 9110 §5.1)")
    }
    guard isSet else { return nil }
    switch name.lowercased() {
    case "content-length":
      return ("'\(name)' is set by ferry", "remove it; ferry knows the length of what it sends")
    case "host":
      return ("'\(name)' is set by ferry", "remove it; it is taken from the URL")
    case "transfer-encoding":
      return ("'\(name)' is set by ferry", "remove it; how a body is framed is up to the connection")
    default:
      return nil
    }
  }

  /// RFC 9110 §5.6.2.
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
