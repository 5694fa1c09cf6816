/// One challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
struct AuthenticationChallenge: Equatable {
  /// The maximum number of challenges that are read, and of parameters that are read for each challenge.
  private static let limit = 32

  /// In lowercase.
  var scheme: String
  /// The parameters by their names in lowercase. If a name is repeated, the first value counts.
  var parameters: [String: String] = [:]

  /// The schemes (IANA's registry of HTTP authentication schemes, and NTLM) and the algorithms of Digest that
  /// messages may name. A server could put a part of a secret in place of any other name.
  private static let knownSchemes: Set = [
    "basic", "bearer", "concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth",
    "privatetoken", "scram-sha-1", "scram-sha-256", "vapid",
  ]
  private static let knownAlgorithms: Set = [
    "md5", "md5-sess", "sha-256", "sha-256-sess", "sha-512-256", "sha-512-256-sess",
  ]

  /// The challenge as messages show it: without text from the server.
  var shown: String {
    guard Self.knownSchemes.contains(scheme) else { return "an unknown scheme" }
    guard scheme == "digest", let algorithm = parameters["algorithm"] else { return scheme }
    let isKnown = Self.knownAlgorithms.contains(algorithm.lowercased())
    return "digest with \(isKnown ? algorithm : "an unknown algorithm")"
  }

  /// The challenges of all `WWW-Authenticate` fields, in order.
  static func all(in fields: [(name: String, value: String)]) -> [AuthenticationChallenge] {
    var all: [AuthenticationChallenge] = []
    for field in fields where field.name.isField("www-authenticate") && all.count < limit {
      var scanner = Scanner(Array(field.value.utf8))
      all += scanner.challenges()
    }
    return Array(all.prefix(limit))
  }

  /// Reads a list of challenges. A comma separates both challenges and parameters.
  private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func challenges() -> [AuthenticationChallenge] {
      var all: [AuthenticationChallenge] = []
      while all.count < limit {
        skip { $0 == UInt8(ascii: ",") || $0.isBlank }
        let name = token()
        guard !name.isEmpty else { return all }
        skip(\.isBlank)
        if rest.first == UInt8(ascii: "="), var last = all.popLast() {
          rest.removeFirst()
          skip(\.isBlank)
          guard let value = value() else { return all + [last] }
          if last.parameters[name] == nil, last.parameters.count < limit { last.parameters[name] = value }
          all.append(last)
        } else {
          all.append(AuthenticationChallenge(scheme: name))
          skipToken68()
        }
      }
      return all
    }

    /// Skips data such as that of Negotiate, which is not a parameter.
    private mutating func skipToken68() {
      let data = rest.prefix { $0.isToken || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
      let after = rest[data.endIndex...].drop(while: \.isBlank)
      guard !data.isEmpty, after.isEmpty || after.first == UInt8(ascii: ",") else { return }
      // A token68 has equals signs only at its end. A parameter with an unquoted value has one before its
      // value.
      let body = data.reversed().drop { $0 == UInt8(ascii: "=") }
      guard !body.contains(UInt8(ascii: "=")) else { return }
      rest = after
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }

    /// A token in lowercase.
    private mutating func token() -> String {
      let name = rest.prefix { $0.isToken }
      rest = rest[name.endIndex...]
      return String(decoding: name, as: UTF8.self).lowercased()
    }

    /// A token or a quoted string; `nil` if the string is not closed.
    private mutating func value() -> String? {
      guard rest.first == UInt8(ascii: "\"") else {
        let value = rest.prefix { $0 != UInt8(ascii: ",") && !$0.isBlank }
        rest = rest[value.endIndex...]
        return String(decoding: value, as: UTF8.self)
      }
      rest.removeFirst()
      var value: [UInt8] = []
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
        case UInt8(ascii: "\\"):
          guard let escaped = rest.popFirst() else { return nil }
          value.append(escaped)
        default: value.append(byte)
        }
      }
      return nil
    }
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
