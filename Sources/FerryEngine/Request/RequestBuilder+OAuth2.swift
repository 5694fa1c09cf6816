import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

/// Requests for access tokens (RFC 6749).
extension RequestBuilder {
  /// The chain of refresh tokens that begins with the one in the manifest; `nil` for a request without a refresh token.
  func refreshChain(_ bindings: Bindings) throws(TransportFailure) -> RefreshChain? {
    guard case .oauth2(let grant) = template.body, let refreshToken = grant.refreshToken else { return nil }
    var sensitive: [String] = []
    let first = try Self.text(refreshToken, bindings, sensitive: &sensitive)
    guard !first.isEmpty else { throw Self.failure("'refresh_token' of 'oauth2' is empty") }
    var parts = SensitiveParts()
    let url = try url(bindings, base: nil, &parts)
    return RefreshChain(
      tokenURL: url, clientID: try Self.text(grant.clientID, bindings, sensitive: &sensitive),
      first: String(decoding: first, as: UTF8.self))
  }

  /// The client's credentials for HTTP Basic, and the names of the sensitive values in them; `nil` if the credentials
  /// are in the body, if the client has no secret, or if the request is not for a token.
  func clientCredentials(
    _ bindings: Bindings
  ) throws(TransportFailure) -> (text: String, values: [String])? {
    guard case .oauth2(let grant) = template.body, grant.clientAuth == .basic, let secret = grant.clientSecret
    else { return nil }
    var sensitive: [String] = []
    var text: [UInt8] = []
    // The ID and the secret are encoded like the fields of a form before they are joined (RFC 6749, section
    // 2.3.1). A space becomes %20, because some servers, such as Authlib, do not decode a plus sign.
    PercentEncoding.append(
      try Self.text(grant.clientID, bindings, sensitive: &sensitive), for: .query, to: &text)
    text.append(UInt8(ascii: ":"))
    PercentEncoding.append(try Self.text(secret, bindings, sensitive: &sensitive), for: .query, to: &text)
    let encoded = Base64.encode(text, isURLSafe: false, isPadded: true)
    return (String(decoding: encoded, as: UTF8.self), sensitive)
  }

  /// The body of a request for a token.
  static func body(
    of grant: OAuth2Grant, _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> [UInt8] {
    var fields: [RequestTemplate.Field] = [
      .init(name: "grant_type", value: Template(literal: grant.grant.rawValue))
    ]
    if let scope = grant.scope { fields.append(.init(name: "scope", value: scope)) }
    if grant.clientSecret == nil || grant.clientAuth == .body {
      fields.append(.init(name: "client_id", value: grant.clientID))
    }
    if let secret = grant.clientSecret, grant.clientAuth == .body {
      fields.append(.init(name: "client_secret", value: secret))
    }
    var body = try form(fields, bindings, &sensitive)
    guard let refreshToken = grant.refreshToken else { return body }
    let first = try text(refreshToken, bindings, sensitive: &sensitive)
    body += "&refresh_token=".utf8
    PercentEncoding.append(
      bindings.refreshToken.map { Array($0.revealed.utf8) } ?? first, for: .form, to: &body)
    if sensitive.isEmpty { sensitive.append("the refresh token") }
    return body
  }
}

/// The successive refresh tokens that a server issues, each of which replaces the previous one. The first is the
/// refresh token of the manifest.
struct RefreshChain: Sendable {
  /// Identifies the chain. A new refresh token in the manifest begins a new chain.
  let id: String
  /// The refresh token of the manifest.
  let first: SensitiveValue

  init(tokenURL: String, clientID: [UInt8], first: String) {
    self.first = SensitiveValue(first)
    // The lengths separate the parts.
    let text = "ferry refresh token 1\n\(tokenURL.utf8.count)\n\(tokenURL)\n\(clientID.count)\n"
    id = Hexadecimal.text(SHA256.hash(Array(text.utf8) + clientID + Array("\n\(first)".utf8)))
  }
}
