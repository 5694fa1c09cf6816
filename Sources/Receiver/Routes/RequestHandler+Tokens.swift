import FlyingFox
import Foundation

/// Issues an access token for client credentials (RFC 6749, section 4.4), and checks bearer tokens (RFC
/// 6750).
extension RequestHandler {
  private struct Token: Encodable {
    let token: String
    let kind = "Bearer"
    /// The lifetime in seconds.
    let life: Double

    enum CodingKeys: String, CodingKey {
      case token = "access_token"
      case kind = "token_type"
      case life = "expires_in"
    }
  }

  /// Issues a token. The client identifies itself in the form or with Basic authentication.
  func issueToken(_ request: HTTPRequest, _ body: inout RequestBody) async throws -> HTTPResponse {
    let form = FormFields(String(decoding: try await body.gather(), as: UTF8.self))
    guard form["grant_type"] == "client_credentials" else {
      let code = form["grant_type"] == nil ? "invalid_request" : "unsupported_grant_type"
      return .problem(.badRequest, code, "grant_type must be client_credentials")
    }
    let basic = basicCredentials(of: request)
    let id = basic?.id ?? form["client_id"]
    let secret = basic?.secret ?? form["client_secret"]
    let isKnown =
      (configuration.clientID == nil || configuration.clientID == id)
      && (configuration.clientSecret == nil || configuration.clientSecret == secret)
    guard isKnown else {
      return .problem(
        .unauthorized, "invalid_client", "the client ID or the client secret is unknown",
        headers: [HTTPHeader("WWW-Authenticate"): "Basic realm=\"ferry-receiver\""])
    }
    let token = UUID().uuidString.lowercased()
    let now = configuration.now()
    let life = configuration.tokenLife.inSeconds
    ledger.withLock { $0.tokens.issue(token, until: now.addingTimeInterval(life), at: now) }
    return try .json(
      Token(token: token, life: life), headers: [.cacheControl: "no-store"])
  }

  /// The response to a request without a valid token; nil if the token is valid.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    let words = (request.headers[.authorization] ?? "").split(separator: " ")
    guard words.count == 2, let scheme = words.first, scheme.lowercased() == "bearer", let token = words.last
    else {
      return .problem(
        .unauthorized, "token_missing", "a bearer token is required",
        headers: [HTTPHeader("WWW-Authenticate"): "Bearer"])
    }
    let now = configuration.now()
    guard !ledger.withLock({ $0.tokens.accepts(String(token), at: now) }) else { return nil }
    return .problem(
      .unauthorized, "invalid_token", "the token is unknown or has expired",
      headers: [HTTPHeader("WWW-Authenticate"): "Bearer error=\"invalid_token\""])
  }

  private func basicCredentials(of request: HTTPRequest) -> (id: String, secret: String)? {
    let words = (request.headers[.authorization] ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "basic",
      let text = Data(base64Encoded: String(words[1])).flatMap({ String(data: $0, encoding: .utf8) }),
      let colon = text.firstIndex(of: ":")
    else { return nil }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }
}
