import FerryPlan
import FerryTransfer

/// The parts of a secret URL that a server or proxy may quote without the rest: in an error page, servers commonly
/// quote the request-target (RFC 9112 §3.2) or the path.
///
/// A part is included only if it is long enough to be secret. Otherwise, a common path such as `/upload` would be
/// masked in every text.
struct SecretURLParts {
  /// The texts to mask, in an order that depends only on the URL; empty if the secret is not an http or https URL.
  private(set) var texts: [[UInt8]] = []

  /// The minimum length of a part in bytes.
  static let shortest = 8
  /// The minimum length of a path in bytes, unless one of its segments is long.
  private static let shortestPath = 16
  /// The maximum number of values of a query that are masked. A server can choose the URL.
  private static let mostValues = 8

  /// The maximum length of a URL whose parts are masked, in bytes. Servers reject longer ones, and a server that chooses
  /// the secrets of many items could otherwise slow down the run.
  private static let longestURL = 16 << 10

  /// Whether a secret may have parts. Most secrets are not URLs, and this takes little time.
  static func mayExist(of secret: some Collection<UInt8>) -> Bool {
    secret.count <= longestURL && secret.prefix(4).map { $0 | 0x20 }.elementsEqual("http".utf8)
  }

  init(_ secret: String) {
    guard Self.mayExist(of: secret.utf8) else { return }
    var url = URLReference(secret)
    guard url.isHTTP else { return }
    url.fragment = nil
    var path = Array(url.path.utf8)
    // Some servers omit the slash at the beginning of the path.
    let slashes = path.prefix { $0 == UInt8(ascii: "/") }.count
    if let query = url.query, query.utf8.count >= Self.shortest {
      texts.append(path + [UInt8(ascii: "?")] + query.utf8)
      if path.count > slashes { texts.append(path.dropFirst(slashes) + [UInt8(ascii: "?")] + query.utf8) }
      texts.append(Array(query.utf8))
    }
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    for path in [path, Array(path.dropFirst(slashes))] where Self.isLong(path) { append(path) }
    if let userinfo = Userinfo(url: secret) {
      if userinfo.hasToken { append(userinfo.userText) }
      if userinfo.hasLongPassword { append(userinfo.passwordText ?? "") }
    }
    for value in Self.values(of: url).prefix(Self.mostValues) { append(value) }
    if let usual = Self.withoutDefaultPort(url), usual != secret { texts.append(Array(usual.utf8)) }
    texts = texts.enumerated().filter { !texts[..<$0.offset].contains($0.element) }.map(\.element)
  }

  /// The values in the query of a URL that are long enough to be secret, with and without percent-encoding.
  static func queryValues(of url: String) -> [[UInt8]] {
    var parts = SecretURLParts("")
    for value in values(of: URLReference(url)).prefix(mostValues) { parts.append(value) }
    return parts.texts
  }

  /// Appends a text as the URL contains it, and as a server quotes it that has removed the percent-encoding.
  private mutating func append(_ text: [UInt8], decodedIfAtLeast length: Int = shortest) {
    texts.append(text)
    if let decoded = DecodedText(text, removing: .percent)?.bytes, decoded.count >= length {
      texts.append(decoded)
    }
  }

  private mutating func append(_ text: String) { append(Array(text.utf8), decodedIfAtLeast: 1) }

  /// The secrets in the user name, password and query of a URL, as a request contains them: each of them, and the user name
  /// with the password, which a request contains in Base64 (RFC 7617). Empty if the text is not an http or https URL.
  ///
  /// A response that contains one of them is treated as secret. Short ones are therefore omitted: they may be common words.
  static func credentials(of url: String) -> [String] {
    guard mayExist(of: url.utf8), URLReference(url).isHTTP else { return [] }
    func decoded(_ text: String) -> String {
      String(
        decoding: DecodedText(Array(text.utf8), removing: .percent)?.bytes ?? Array(text.utf8), as: UTF8.self)
    }
    var found = values(of: URLReference(url)).prefix(mostValues).filter { $0.count >= 16 }
      .map { String(decoding: $0, as: UTF8.self) }
    guard let userinfo = Userinfo(url: url) else { return found }
    let (user, password) = (decoded(userinfo.userText), decoded(userinfo.passwordText ?? ""))
    found += ((userinfo.hasToken ? [user] : []) + [password]).filter { $0.utf8.count >= shortest }
    return userinfo.hasToken || userinfo.hasLongPassword ? found + [user + ":" + password] : found
  }

  /// The values of the query that are long enough, the longest ones first. A field without `=` counts as a value.
  private static func values(of url: URLReference) -> [[UInt8]] {
    (url.query ?? "").utf8.split(separator: UInt8(ascii: "&"))
      .map { field in Array(field.firstIndex(of: UInt8(ascii: "=")).map { field[$0...].dropFirst() } ?? field)
      }
      .filter { $0.count >= shortest }
      .enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
  }

  private static func isLong(_ path: [UInt8]) -> Bool {
    path.count >= shortestPath
      || path.split(separator: UInt8(ascii: "/")).contains { $0.count >= shortest }
  }

  /// The URL as clients and servers show it: without the user name, the password and the default port of the scheme.
  private static func withoutDefaultPort(_ url: URLReference) -> String? {
    var url = url
    url.removeUserinfo()
    url.scheme = url.scheme?.lowercased()
    guard let authority = url.authority?.lowercased() else { return nil }
    let port = url.scheme == "https" ? ":443" : ":80"
    url.authority = authority.hasSuffix(port) ? String(authority.dropLast(port.utf8.count)) : authority
    return url.description
  }
}

extension Userinfo {
  /// Whether the user name is secret: some services use it for a token, with an arbitrary password or none.
  fileprivate var hasToken: Bool { userText.utf8.count >= ((passwordText ?? "").isEmpty ? 4 : 16) }
  fileprivate var hasLongPassword: Bool { (passwordText ?? "").utf8.count >= 4 }
}

extension TransferResponse {
  /// The values in the queries of the request's URL and of `Location`, which the response may repeat: they may be
  /// signatures. The page of a redirect usually has a link to its target.
  var queryValues: [[UInt8]] {
    ([url] + headers.filter { $0.name.isField(named: "location") }.prefix(1).map(\.value))
      .flatMap(SecretURLParts.queryValues(of:))
  }
}
