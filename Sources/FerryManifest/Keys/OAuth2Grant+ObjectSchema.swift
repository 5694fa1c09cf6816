/// `oauth2` as written in the manifest.
struct OAuth2Settings: Sendable {
  var tokenURL = Template([])
  var grant = OAuth2Grant()

  /// The request for an access token. The credentials and the signature of its session do not apply to it, because the
  /// client authenticates itself as the grant specifies.
  var request: RequestTemplate {
    var request = RequestTemplate(method: "POST", url: tokenURL, body: .oauth2(grant))
    request.sign = .off
    request.auth = .off
    return request
  }

  static let shape = ObjectSchema<Self>(
    "OAuth 2",
    doc: """
      A token that an OAuth 2.0 server issues (RFC 6749). ferry sends the request, reads `access_token`, `expires_in` and \
      errors, and uses the refresh token with which the server replaces the current one.
      """,
    keys: [
      Key(
        "token_url", \.tokenURL, .url, isRequired: true, doc: "The URL of the server's token endpoint.",
        example: "https://auth.example.com/oauth/token"),
      Key(
        "client_id", \.grant.clientID, .nonEmptyTemplate("client identifier", isOptional: false),
        isRequired: true, doc: "The identifier of the client.",
        example: "backup"),
      Key(
        "client_secret", \.grant.clientSecret, .nonEmptyTemplate("client secret"),
        default: "none: a public client",
        doc: "The client secret. `client_credentials` requires it.",
        example: "\"${secrets.client_secret}\""
      ),
      Key(
        "scope", \.grant.scope, .template(), default: "the server's",
        doc: "The requested scope: names separated by spaces.", example: "files.write"),
      Key(
        "grant", \.grant.grant, .choice(),
        doc: """
          `client_credentials`: the client acts on its own behalf. `refresh_token`: the client acts for a user who has \
          authorized it before.
          """,
        example: "refresh_token"),
      Key(
        "refresh_token", \.grant.refreshToken, .nonEmptyTemplate("refresh token"), default: "none",
        doc: """
          The refresh token that the server has issued for the user. If the server replaces it, ferry keeps the new one in the \
          journal and uses it from then on, until this value changes.
          """,
        example: "\"${secrets.refresh_token}\""),
      Key(
        "client_auth", \.grant.clientAuth, .choice(),
        doc: "How the client authenticates itself: with HTTP Basic, or with its client secret in the body.",
        example: "body"),
    ],
    rules: [.requires("client_auth", "client_secret")],
    blank: { _, _ in Self() },
    finish: { settings, node, decoder in
      guard !node.isIncomplete else { return }
      switch settings.grant.grant {
      case .clientCredentials:
        if let key = node.members?.first(where: { $0.key.value == "refresh_token" })?.key {
          decoder.report(
            .keyWithoutOther, at: key.location, "'refresh_token' is valid only with 'grant: refresh_token'",
            help: "add 'grant: refresh_token', or remove 'refresh_token'")
        } else if node["client_secret"] == nil, !decoder.isMisspelt("client_secret", in: node) {
          decoder.report(
            .missingKey, at: decoder.owner.location, "'oauth2' has no 'client_secret'",
            help:
              "add 'client_secret: \"${secrets.client_secret}\"', which 'grant: client_credentials' requires")
        }
      case .refreshToken:
        guard node["refresh_token"] == nil, !decoder.isMisspelt("refresh_token", in: node) else { return }
        decoder.report(
          .missingKey, at: decoder.owner.location, "'oauth2' has no 'refresh_token'",
          help: "add 'refresh_token: \"${secrets.refresh_token}\"', which 'grant: refresh_token' requires")
      }
    })
}
