import FerryDigest

/// A Digest challenge, and the credentials for it (RFC 7616; without `qop`, RFC 2069).
struct DigestChallenge: Equatable {
  enum Algorithm: String {
    case md5
    case md5Session = "md5-sess"
    case sha256 = "sha-256"
    case sha256Session = "sha-256-sess"

    var isSession: Bool { self == .md5Session || self == .sha256Session }
  }

  let realm: String
  let nonce: String
  let opaque: String?
  let algorithm: Algorithm
  /// The algorithm as the server wrote it; `nil` if the challenge names none.
  private let writtenAlgorithm: String?
  /// Whether the server supports `qop=auth`.
  private let hasQuality: Bool
  private let hashesUser: Bool
  /// Whether the server rejected only the nonce of the last credentials.
  let isStale: Bool
  /// The number of requests with this nonce.
  private(set) var count: UInt32 = 0

  /// The maximum length of a value that a server chose and that is sent back.
  private static let longest = 4096

  /// Returns `nil` if the challenge is not one of Digest, or requires something that is not supported.
  init?(_ challenge: AuthenticationChallenge) {
    guard challenge.scheme == AuthenticationScheme.digest.rawValue, let realm = challenge.parameters["realm"],
      let nonce = challenge.parameters["nonce"]
    else { return nil }
    writtenAlgorithm = challenge.parameters["algorithm"]
    guard let algorithm = Algorithm(rawValue: (writtenAlgorithm ?? "md5").lowercased()) else { return nil }
    let qualities = challenge.parameters["qop"].map {
      $0.lowercased().split { ", \t".contains($0) }.map(String.init)
    }
    guard qualities?.contains("auth") != false else { return nil }
    let opaque = challenge.parameters["opaque"]
    guard [realm, nonce, opaque ?? ""].allSatisfy({ $0.utf8.count <= Self.longest && Self.isQuotable($0) })
    else {
      return nil
    }
    self.realm = realm
    self.nonce = nonce
    self.opaque = opaque
    self.algorithm = algorithm
    hasQuality = qualities != nil
    hashesUser = challenge.parameters["userhash"]?.lowercased() == "true"
    isStale = challenge.parameters["stale"]?.lowercased() == "true"
  }

  /// The value of the Authorization field of the next request.
  ///
  /// - Parameters:
  ///   - target: the path and query as they are sent.
  ///   - clientNonce: chosen at random.
  /// - Returns: `nil` if libcrypto does not provide MD5, as in FIPS mode.
  mutating func answer(
    user: String, password: String, method: String, target: String, clientNonce: String
  ) -> String? {
    count += 1
    let number = String(count, radix: 16)
    let nc = String(repeating: "0", count: 8 - number.count) + number
    guard var a1 = hash("\(user):\(realm):\(password)"), let a2 = hash("\(method):\(target)") else {
      return nil
    }
    if algorithm.isSession {
      guard let session = hash("\(a1):\(nonce):\(clientNonce)") else { return nil }
      a1 = session
    }
    let parts = hasQuality ? [a1, nonce, nc, clientNonce, "auth", a2] : [a1, nonce, a2]
    guard let response = hash(parts.joined(separator: ":")),
      let name = hashesUser ? hash("\(user):\(realm)") : user
    else { return nil }
    var fields = [
      "username=\(Self.quoted(name))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
      "uri=\(Self.quoted(target))", "response=\"\(response)\"",
    ]
    if let writtenAlgorithm { fields.append("algorithm=\(writtenAlgorithm)") }
    if hasQuality { fields.append("qop=auth, nc=\(nc), cnonce=\"\(clientNonce)\"") }
    if algorithm.isSession, !hasQuality { fields.append("cnonce=\"\(clientNonce)\"") }
    if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
    if hashesUser { fields.append("userhash=true") }
    return "Digest " + fields.joined(separator: ", ")
  }

  private func hash(_ text: String) -> String? {
    switch algorithm {
    case .md5, .md5Session: MD5.hash(Array(text.utf8)).map { Hexadecimal.text($0) }
    case .sha256, .sha256Session: Hexadecimal.text(SHA256.hash(Array(text.utf8)))
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }

  /// Whether a string can be part of a header field.
  static func isQuotable(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
