/// A request for an access token as specified by OAuth 2.0 (RFC 6749).
package struct OAuth2Grant: Hashable, Codable, Sendable {
  package enum Grant: String, Codable, Sendable, CaseIterable {
    /// RFC 6749, section 4.4.
    case clientCredentials = "client_credentials"
    /// RFC 6749, section 6.
    case refreshToken = "refresh_token"
  }

  /// How the client authenticates itself (RFC 6749, section 2.3.1).
  package enum ClientAuth: String, Codable, Sendable, CaseIterable {
    /// HTTP Basic.
    case basic
    /// `client_id` and `client_secret` in the body.
    case body
  }

  package var grant = Grant.clientCredentials
  package var clientID = Template([])
  /// `nil` for a public client, which sends only its `client_id`, in the body.
  package var clientSecret: Template?
  package var clientAuth = ClientAuth.basic
  package var scope: Template?
  /// The refresh token that the user has obtained. Once the server has replaced it, the refresh token in the journal
  /// is used instead.
  package var refreshToken: Template?

  package init() {}

  /// The name of the capture with the access token.
  package static let accessToken = "access_token"
  /// The name of the capture with the lifetime of the access token, in seconds.
  package static let expiresIn = "expires_in"

  /// The captures of a response (RFC 6749, section 5.1). The optional one is the last.
  package static let captures = [
    Capture(name: accessToken, source: .json(pointer: "/access_token"), isSecret: true),
    Capture(name: expiresIn, source: .json(pointer: "/expires_in"), isOptional: true),
  ]

  /// The texts with references.
  package var templates: [Template] {
    [clientID] + [clientSecret, scope, refreshToken].compactMap(\.self)
  }
}
