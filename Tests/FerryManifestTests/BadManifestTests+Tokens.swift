extension BadManifest {
  private static let remedy = "remove one of the two, or write 'auth: none' next to the request"

  /// `oauth2` and `apply` of tokens.
  static let tokens: [BadManifest] = [
    BadManifest(
      "OAuth 2 tokens without what their grant needs",
      """
      tokens:
        a: { session: quick, 1️⃣oauth2: { token_url: https://example.com/token, client_id: a } }
        b: { session: quick, 2️⃣oauth2: { token_url: https://example.com/token, client_id: a, grant: refresh_token } }
        c:
          session: quick
          oauth2: { token_url: https://example.com/token, client_id: a, client_secret: "${vars.s}", 3️⃣refresh_token: "${vars.s}" }
        d: { session: quick, 4️⃣oauth2: { client_id: a, client_secret: "${vars.s}" } }
        e:
          session: quick
          oauth2:
            { token_url: https://example.com/token, client_id: a, grant: refresh_token, refresh_token: "${vars.s}", 5️⃣client_auth: body }
      vars: { s: x }
      """,
      .error(
        "1️⃣", .missingKey, "'oauth2' has no 'client_secret'",
        help: "add 'client_secret: \"${secrets.client_secret}\"', which 'grant: client_credentials' requires"),
      .error(
        "2️⃣", .missingKey, "'oauth2' has no 'refresh_token'",
        help: "add 'refresh_token: \"${secrets.refresh_token}\"', which 'grant: refresh_token' requires"),
      .error(
        "3️⃣", .keyWithoutOther, "'refresh_token' is valid only with 'grant: refresh_token'",
        help: "add 'grant: refresh_token', or remove 'refresh_token'"),
      .error(
        "4️⃣", .missingKey, "'oauth2' has no 'token_url'",
        help: "add 'token_url: https://auth.example.com/oauth/token'"),
      .error(
        "5️⃣", .keyWithoutOther, "'client_auth' is valid only with 'client_secret'",
        help: "add 'client_secret:', or remove 'client_auth'")),
    BadManifest(
      "an OAuth 2 token with empty credentials",
      """
      tokens:
        a:
          session: quick
          oauth2: { token_url: https://example.com/token, client_id: 1️⃣"", client_secret: 2️⃣"" }
      """,
      .error(
        "1️⃣", .emptyText, "the client identifier is empty", help: "specify a client identifier"),
      .error(
        "2️⃣", .emptyText, "the client secret is empty", help: "specify a client secret, or remove the key")),
    BadManifest(
      "an OAuth 2 token with keys of other tokens",
      """
      tokens:
        a:
          session: quick
          1️⃣oauth2: { token_url: https://example.com/token, client_id: a, client_secret: "${vars.s}" }
          2️⃣request: { url: https://example.com/token }
          capture: { 3️⃣expires_in: { json: /expires_in }, more: { json: /more } }
      vars: { s: x }
      """,
      .error(
        "2️⃣", .excludingKeys, "'request' and 'oauth2' are mutually exclusive", help: "keep one of them",
        notes: [("1️⃣", "'oauth2' is set here")]),
      .error(
        "3️⃣", .excludingKeys, "'expires_in' is captured by 'oauth2'",
        help: "remove it, or choose a different name")),
    BadManifest(
      "a token without captures, and one with two that may be the token",
      """
      tokens:
        1️⃣a: { session: quick, request: { url: https://example.com/token } }
        2️⃣b:
          session: quick
          request: { url: https://example.com/token }
          capture: { id: { json: /id }, key: { json: /key } }
        c:
          session: quick
          request: { url: https://example.com/token }
          capture: { key: { json: /key } }
          apply: { cookie: 3️⃣"a b" }
      """,
      .error(
        "1️⃣", .missingKey, "'a' has no 'capture'",
        help: "add 'capture: { access_token: { json: /access_token, secret: true } }'"),
      .error(
        "2️⃣", .missingKey, "'apply' has no 'value', and more than one capture could be the token",
        help:
          "write 'apply: { value: \"Bearer ${token.id}\" }', or name the capture access_token"),
      .error(
        "3️⃣", .invalidName, "this is not a valid cookie name",
        help: "use ASCII letters, digits, '-', '_' and '.'")),
    BadManifest(
      "a token whose header field is set elsewhere", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { s: { auth: { user: u } }, plain: { headers: { 2️⃣Cookie: a=b } } }
      tokens:
        1️⃣login: { session: s, request: { url: https://example.com/ }, capture: { t: { json: /t } } }
        session:
          session: plain
          request: { url: https://example.com/ }
          capture: { t: { json: /t } }
          apply: { cookie: session }
      requests:
        a: { session: s, token: login, request: { url: https://example.com/ } }
        b: { session: plain, token: session, request: { url: https://example.com/ } }
      """,
      .error(
        "2️⃣", .duplicateHeader, "the header 'Cookie' is set by the token 'session'",
        help: "remove it, or write both cookies in 'apply': "
          + "'apply: { header: Cookie, value: \"NAME=VALUE; session=${token.…}\" }'"),
      .error("1️⃣", .authenticatedRequest, "the header 'Authorization' is set by 'auth'", help: remedy)),
  ]
}
