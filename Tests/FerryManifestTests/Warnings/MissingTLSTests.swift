import Testing

@Suite struct `A token without TLS` {
  private static func text(
    _ url: String, vars: String = "{}", token: String = "token: login", headers: String = "",
    session: String = ""
  ) -> String {
    """
    version: 1
    name: a
    vars: \(vars)
    secrets: { key: { env: KEY } }
    sessions: { quick: { \(session) } }
    tokens:
      login:
        session: quick
        request: { url: https://a.example/token }
        capture: { access: { json: /access, secret: true } }
        apply: { header: Authorization, value: "Bearer ${token.access}" }
    requests:
      r:
        session: quick
        \(token)
        request:
          url: \(url)
          headers: { \(headers) }
    """
  }

  private static func warning(
    _ what: String = "token 'login'", host: String = "b.example", notes: [(Character, String)] = []
  ) -> ExpectedWarning {
    ExpectedWarning(
      mark: "1️⃣", code: .tokenWithoutTLS, message: "\(what) is sent to '\(host)' without TLS",
      help: "use https://; anyone on the network path can read and reuse data sent over http://", notes: notes
    )
  }

  @Test func `is reported at the URL`() {
    expectWarnings(Self.text("1️⃣http://b.example/x"), [Self.warning()])
    expectWarnings(Self.text("1️⃣HTTP://b.example:80"), [Self.warning()])
    expectWarnings(Self.text("1️⃣http://user@b.example/"), [Self.warning()])
    expectWarnings(
      Self.text("1️⃣http://[2001:db8::1]:80/"), [Self.warning(host: "[2001:db8::1]")])
  }

  @Test func `may be a secret in the request or its session`() {
    expectWarnings(
      Self.text("1️⃣http://b.example/", token: "", headers: "X-Key: \"${secrets.key}\""),
      [Self.warning("a secret")])
    expectWarnings(
      Self.text("1️⃣http://b.example/${secrets.key}", token: ""), [Self.warning("a secret")])
    expectWarnings(
      """
      version: 1
      name: a
      secrets: { key: { env: KEY } }
      sessions: { quick: { headers: { X-Key: "${secrets.key}" } } }
      requests:
        r: { session: quick, request: { url: 1️⃣http://b.example/ } }
      """, [Self.warning("a secret")])
  }

  @Test(arguments: [("auth: { netrc: n }", ""), ("", ", auth: { netrc: n }")])
  func `may be a password of a netrc file`(_ session: String, _ request: String) {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { quick: { \(session) } }
      requests:
        r: { session: quick, request: { url: 1️⃣http://b.example/ }\(request) }
      """, [Self.warning("a secret")])
  }

  @Test func `is reported once if a variable begins the URLs`() {
    expectWarnings(
      """
      version: 1
      name: a
      vars:
        host: 1️⃣http://b.example
        api: ${vars.host}/v1
      secrets: { key: { env: KEY } }
      sessions: { quick: { headers: { X-Key: "${secrets.key}" } } }
      requests:
        r: { session: quick, request: { url: 2️⃣"${vars.api}/x" } }
        s: { session: quick, request: { url: "${vars.api}/y" } }
      """, [Self.warning("a secret", notes: [("2️⃣", "sent with this request")])])
  }

  @Test func `is reported if the environment gives the host`() {
    let text = """
      version: 1
      name: a
      vars:
        api: 1️⃣${env.API:-http://127.0.0.1}
      secrets: { key: { env: KEY } }
      sessions: { quick: { headers: { X-Key: "${secrets.key}" } } }
      requests:
        r: { session: quick, request: { url: 2️⃣"${vars.api}/x" } }
      """
    expectWarnings(text, [])
    expectWarnings(
      text, [Self.warning("a secret", notes: [("2️⃣", "sent with this request")])],
      environment: ["API": "http://b.example"])
  }

  @Test func `is not reported for this machine`() {
    for host in [
      "localhost", "LOCALHOST:8080", "photos.localhost", "127.0.0.1", "127.8.9.10:80", "[::1]",
      "[0:0:0:0:0:0:0:1]:80",
      "[::ffff:127.0.0.1]",
    ] {
      expectWarnings(Self.text("http://\(host)/x"), [])
    }
    for host in [
      "127.b.example", "localhost.b.example", "notlocalhost", "[::11]", "[::2]", "128.0.0.1", "10.0.0.1",
    ] {
      expectWarnings(Self.text("1️⃣http://\(host)/x"), [Self.warning(host: host)])
    }
  }

  @Test func `is not reported with TLS, without a token, or for an unknown host`() {
    expectWarnings(Self.text("https://b.example/x"), [])
    expectWarnings(Self.text("http://b.example/x", token: ""), [])
    expectWarnings(
      """
      version: 1
      name: a
      secrets: { key: { env: KEY } }
      sessions: { quick: { headers: { X-Key: "${secrets.key}" } } }
      uploads:
        u:
          session: quick
          files: { root: . }
          allocate: { request: { url: https://a.example/ids }, capture: { at: { header: Location } } }
          transfer: { request: { url: "${allocate.at}" } }
          commit: { request: { url: "http://${allocate.at}/x" } }
      """, [])
  }

  @Test func `is not reported for a step without the token`() {
    func text(_ token: String) -> String {
      """
      version: 1
      name: a
      sessions: { quick: {} }
      tokens:
        login:
          session: quick
          request: { url: https://a.example/token }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      uploads:
        u:
          session: quick
          token: login
          files: { root: . }
          transfer:
            \(token)
            request: { url: "1️⃣http://b.example/${file.path}" }
      """
    }
    expectWarnings(text("token: none"), [])
    expectWarnings(text("").replacing("\"1️⃣", with: "1️⃣\""), [Self.warning()])
  }
}
