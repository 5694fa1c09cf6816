extension TokenStep {
  static let shape = ObjectSchema<TokenStep>(
    "Token", doc: "A step that fetches an authorization token once for all requests that wait for it.",
    keys: [
      .session(\.session),
      .request(\.request),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
      Key(
        "capture", \.capture, .named(Capture.shape), isRequired: true,
        doc: """
          The values to capture from the response. `expires_in` (seconds) or `expires_at` (RFC 3339 or Unix seconds) \
          determines when the token expires.
          """,
        example: "{ access_token: { json: /access_token, secret: true } }"),
      Key(
        "apply", \.application, .object(Application.shape), isRequired: true,
        doc: "The header field that carries the token.",
        example: "{ header: Authorization, value: \"Bearer ${token.access_token}\" }"),
      Key(
        "refresh", \.refresh, .object(Refresh.shape), default: .itsKeys,
        doc: "The conditions for fetching the token again."),
      .retry(\.retry),
    ],
    blank: { name, _ in
      TokenStep(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])),
        capture: [],
        apply: RequestTemplate.Field(name: "", value: Template([])))
    },
    place: { _, name in .token(name) },
    finish: { token, _, decoder in
      guard token.name.value == "none" else { return }
      decoder.report(
        .invalidName, at: token.name.location, "a token cannot be named 'none'",
        help: "'token: none' on a step omits the token; choose a different name")
    })
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
