extension TokenStep {
  static let shape = ObjectSchema<TokenStep>(
    "Token", doc: "A step that fetches an authorization token once for all requests that wait for it.",
    keys: [
      .session(\.session),
      .optionalRequest(\.request),
      Key(
        "oauth2", \.oauth2, .object(OAuth2Settings.shape), default: "none",
        doc: "A request for an access token as specified by OAuth 2.0, instead of `request` and `capture`.",
        example: """
          { token_url: https://auth.example.com/oauth/token, client_id: backup, client_secret: "${secrets.client_secret}" }
          """),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
      Key(
        "capture", \.capture, .named(Capture.shape), default: "required with `request`",
        doc: """
          The values to capture from the response. `expires_in` (seconds) or `expires_at` (RFC 3339 or Unix seconds) \
          determines when the token expires. With `oauth2`, `access_token` and `expires_in` are captured \
          automatically, and this key adds further values.
          """,
        example: "{ access_token: { json: /access_token, secret: true } }"),
      Key(
        "apply", \.application, .object(Application.shape),
        default: "`Authorization: Bearer` and the token",
        doc: "How requests carry the token.",
        example: "{ header: Authorization, value: \"Bearer ${token.access_token}\" }"),
      Key(
        "refresh", \.refresh, .object(Refresh.shape), default: .itsKeys,
        doc: "The conditions for fetching the token again."),
      .decompress(\.request.decompress),
      .retry(\.retry),
    ],
    rules: [
      .exactlyOne(["request", "oauth2"]), .atMostOne(["oauth2", "sign"]), .atMostOne(["oauth2", "auth"]),
    ],
    blank: { name, _ in
      TokenStep(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])),
        capture: [], apply: TokenApplication(.header("Authorization"), value: Template([])))
    },
    place: { _, name in .token(name) },
    finish: { token, node, decoder in
      token.finishCaptures(node, &decoder)
      token.finishApplication(node, &decoder)
      guard token.name.value == "none" else { return }
      decoder.report(
        .invalidName, at: token.name.location, "a token cannot be named 'none'",
        help: "'token: none' on a step omits the token; choose a different name")
    })
}

extension TokenStep {
  private var oauth2: OAuth2Settings? {
    get { nil }
    set { if let newValue { request = newValue.request } }
  }

  /// Adds the captures of `oauth2`.
  private mutating func finishCaptures(_ node: YAMLNode, _ decoder: inout ManifestDecoder) {
    guard node["oauth2"] != nil else {
      guard node["request"] != nil, node["capture"] == nil, !node.isIncomplete,
        !decoder.isMisspelt("capture", in: node)
      else { return }
      return decoder.report(
        .missingKey, at: decoder.owner.location, "\(decoder.owner.value.quoted) has no 'capture'",
        help: "add 'capture: { access_token: { json: /access_token, secret: true } }'")
    }
    let own = OAuth2Grant.captures
    for member in node["capture"]?.members ?? []
    where (own.map(\.name) + ["refresh_token"]).contains(member.key.value) {
      decoder.report(
        .excludingKeys, at: member.key.location, "\(member.key.value.quoted) is captured by 'oauth2'",
        help: "remove it, or choose a different name")
    }
    capture += own
  }
}

extension TokenStep.Refresh {
  static let shape = ObjectSchema<Self>(
    "Refresh", doc: "The conditions for fetching a token again.",
    keys: [
      Key(
        "before_expiry", \.beforeExpiry, .duration(),
        doc: "How long before its captured expiry the token is fetched again.",
        example: "30s"),
      Key(
        "on_status", \.onStatus, .list(.status),
        doc: "The status codes that indicate an expired token.",
        example: "[401]"),
    ],
    blank: { _, _ in Self() })
}
