import FerryManifest
import Testing

@Suite struct `A plain secret` {
  private static func text(_ request: String, vars: String = "{}", session: String = "") -> String {
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
        token: login
        request:
          \(request)
    """
  }

  private static func header(_ field: String) -> String {
    text("{ url: https://a.example/, headers: { \(field) } }")
  }

  private static func form(_ field: String) -> String {
    text("{ url: https://a.example/, form: { \(field) } }")
  }
  private static func json(_ member: String) -> String {
    text("{ url: https://a.example/, json: { \(member) } }")
  }
  private static func url(_ url: String) -> String { text("url: \(url)") }

  private static func warning(_ what: String, notes: [(Character, String)] = []) -> ExpectedWarning {
    ExpectedWarning(
      mark: "1️⃣", code: .plainSecret, message: what,
      help:
        "declare it under 'secrets:', with the environment or a file as its source, and write ${secrets.NAME}",
      notes: notes)
  }

  @Test(arguments: [
    ("Authorization", "Bearer k5dXq0"), ("Authorization", "k5dXq0"), ("authorization", "Basic dXNlcjpwYXNz"),
    ("Proxy-Authorization", "Basic dXNlcjpwYXNz"), ("X-API-Key", "k5dXq0"), ("Api-Key", "k5dXq0"),
    ("X-Auth-Token", "k5dXq0"), ("Private-Token", "k5dXq0"), ("Cookie", "theme=dark; session_id=k5dXq0"),
    ("Cookie", "PHPSESSID=k5dXq0"), ("Authorization", "key=k5dXq0"),
  ])
  func `may be in a header`(_ name: String, _ value: String) {
    expectWarnings(
      Self.header("\(name): 1️⃣\"\(value)\""),
      [Self.warning("the header '\(name)' contains a secret in plain text")]
    )
  }

  @Test(arguments: [("secret_key", true), ("secret_key", false), ("session_token", true)])
  func `may be in a signature`(_ key: String, isSession: Bool) {
    let other = key == "secret_key" ? "" : "secret_key: \"${secrets.key}\", "
    let sign = "sign: { aws_v4: { access_key: AKIAEXAMPLE, \(other)\(key): 1️⃣k5dXq0/8a } }"
    let text = """
      version: 1
      name: a
      secrets: { key: { env: KEY } }
      sessions: { s3: { \(isSession ? sign : "") } }
      requests:
        r: { session: s3, request: { url: https://a.example/ }\(isSession ? "" : ", \(sign)") }
      """
    expectWarnings(text, [Self.warning("'\(key)' is a secret in plain text")])
  }

  @Test(arguments: [
    #"Authorization: "Bearer ${token.access}""#, #"Authorization: "Basic ${secrets.key}""#,
    #"Authorization: "Bearer ${env.TOKEN:-k5dXq0}""#, #"Authorization: Bearer"#, #"X-Api-Key: """#,
    #"Authorization: "Bearer ""#, #"Cookie: "theme=dark; consent=yes""#,
    #"Cookie: "session=${secrets.key}; a=b""#,
    #"Content-Type: application/json"#, #"Idempotency-Key: k5dXq0"#, #"X-Csrf-Token: fetch"#,
    #"Cache-Key: k5dXq0"#,
  ])
  func `is not reported for every header`(_ field: String) { expectWarnings(Self.header(field), []) }

  @Test(arguments: [
    "password", "passwd", "secret", "client_secret", "clientSecret", "client-secret", "token", "access_token",
    "refresh_token", "api_key", "apikey", "apiKey", "private_key", "db_password", "aws_secret_access_key",
  ])
  func `may be in a form, a JSON body or a query`(_ name: String) {
    expectWarnings(
      Self.form("\(name): 1️⃣k5dXq0"), [Self.warning("the field '\(name)' contains a secret in plain text")])
    expectWarnings(
      Self.json("\(name): 1️⃣k5dXq0"), [Self.warning("the member '\(name)' contains a secret in plain text")])
    expectWarnings(
      Self.json("in: [{ deep: { \(name): 1️⃣k5dXq0 } }]"),
      [Self.warning("the member '\(name)' contains a secret in plain text")])
    expectWarnings(
      Self.url("1️⃣https://a.example/?a=b&\(name)=k5dXq0#x"),
      [Self.warning("the parameter '\(name)' contains a secret in plain text")])
  }

  @Test(arguments: [
    "grant_type: refresh_token", "grant_type: password", "token_type: bearer", "password: \"\"",
    "token: true",
    "token: none", "next_page_token: k5dXq0", "password_hint: k5dXq0", "secret_name: k5dXq0", "key: k5dXq0",
    "password: \"${secrets.key}\"", "password: \"a${secrets.key}\"", "token: \"${env.TOKEN:-k5dXq0}\"",
    "requested_token_use: k5dXq0", "public_key: k5dXq0", "password: <password>", "secret: \"****\"",
  ])
  func `is not reported for every field or member`(_ field: String) {
    expectWarnings(Self.form(field), [])
    expectWarnings(Self.json(field), [])
  }

  @Test(arguments: [
    "fields: { password: 1️⃣k5dXq0 }", "fields_after: { password: 1️⃣k5dXq0 }",
    "fields: [{ name: a, value: k5dXq0 }, { name: password, value: 1️⃣k5dXq0 }]",
  ])
  func `may be in a form with a file`(_ fields: String) {
    let text = """
      version: 1
      name: a
      sessions: { quick: {} }
      uploads:
        u:
          session: quick
          files: {}
          transfer:
            protocol: multipart_form
            form: { \(fields) }
            request: { url: https://a.example/ }
      """
    expectWarnings(text, [Self.warning("the field 'password' contains a secret in plain text")])
    expectWarnings(text.replacing("1️⃣", with: "").replacing("k5dXq0", with: "\"${file.name}\""), [])
  }

  @Test func `may be a number in JSON, but not a small one`() {
    expectWarnings(
      Self.json("password: 1️⃣123456"), [Self.warning("the member 'password' contains a secret in plain text")])
    expectWarnings(Self.json("token: 7, secret: true, password: null"), [])
  }

  @Test func `may be the password of a URL`() {
    let warning = Self.warning("the URL contains a password in plain text")
    expectWarnings(Self.url("1️⃣https://user:k5dXq0@a.example/"), [warning])
    expectWarnings(Self.url("1️⃣https://user:k5dXq0@a.example"), [warning])
    for url in [
      "https://user@a.example/", "https://user:@a.example/", "https://a.example:443/@x",
      "\"https://user:${secrets.key}@a.example/\"", "https://a.example/x:y@z", "https://a.example/?at=a:b@c",
    ] { expectWarnings(Self.url(url), []) }
  }

  @Test func `is not reported in a query that is not in the manifest`() {
    for url in [
      "\"https://a.example/?token=${secrets.key}\"", "\"https://a.example/?token=a${secrets.key}\"",
      "https://a.example/?token=", "https://a.example/?token", "https://a.example/#token=k5dXq0",
      "https://a.example/?page_token=k5dXq0",
    ] { expectWarnings(Self.url(url), []) }
  }

  @Test func `is reported at the variable that has it`() {
    expectWarnings(
      Self.text(
        "{ url: https://a.example/, form: { password: 2️⃣\"${vars.b}\" } }",
        vars: "{ a: 1️⃣k5dXq0, b: \"${vars.a}\" }"),
      [Self.warning("the field 'password' contains a secret in plain text", notes: [("2️⃣", "sent from here")])]
    )
    expectWarnings(
      Self.text("{ url: 2️⃣\"${vars.api}/x\" }", vars: "{ api: 1️⃣\"https://u:k5dXq0@a.example\" }"),
      [Self.warning("the URL contains a password in plain text", notes: [("2️⃣", "sent from here")])])
    expectWarnings(
      Self.text(
        "{ url: https://a.example/, headers: { Authorization: 2️⃣\"Bearer ${vars.t}\" } }",
        vars: "{ t: 1️⃣k5dXq0 }"),
      [
        Self.warning(
          "the header 'Authorization' contains a secret in plain text", notes: [("2️⃣", "sent from here")])
      ])
  }

  /// A fetch with `for_each` and a request with this `Authorization`.
  private static func each(_ forEach: String, _ authorization: String) -> String {
    """
    version: 1
    name: a
    vars: { t: k5dXq0, given: k5dXq0 }
    sessions: { quick: {} }
    fetches:
      f:
        for_each: \(forEach)
        session: quick
        request: { url: "https://a.example/", headers: { Authorization: 2️⃣"\(authorization)" } }
        save_to: "${each.key}"
    """
  }

  @Test(arguments: [
    ("{ a: { t: 1️⃣k5dXq0 } }", "Bearer ${each.value.t}"),
    ("{ a: { t: 1️⃣k5dXq0, s: Basic } }", "${each.value.s} ${each.value.t}"),
    ("{ a: 1️⃣k5dXq0, b: \"${env.T:-x}\" }", "Bearer ${each.value}"), ("[1️⃣k5dXq0]", "Bearer ${each.key}"),
    ("[1️⃣k5dXq0]", "${each.value}"), ("{ 1️⃣k5dXq0: x }", "Bearer ${each.key}"),
  ])
  func `is reported at the for_each that has it`(_ forEach: String, _ authorization: String) {
    expectWarnings(
      Self.each(forEach, authorization),
      [
        Self.warning(
          "the header 'Authorization' contains a secret in plain text", notes: [("2️⃣", "sent from here")])
      ])
  }

  @Test func `of each instance is reported`() {
    let reading = read(
      Self.each("{ a: { t: k5dXq0 }, b: { t: m7Zr2B } }", "Bearer ${each.value.t}").replacing("2️⃣", with: ""))
    #expect(reading.diagnostics.map(\.code) == [.plainSecret, .plainSecret])
  }

  @Test(arguments: [
    ("{ a: { t: \"${env.T:-k5dXq0}\" } }", "Bearer ${each.value.t}"),
    ("{ a: { t: \"${vars.given}\" } }", "Bearer ${each.value.t}"), ("[\"${env.T}\"]", "Bearer ${each.key}"),
    ("{ a: { t: \"\" } }", "Bearer ${each.value.t}"),
  ])
  func `is not reported in a for_each that gets it from outside`(_ forEach: String, _ authorization: String) {
    expectWarnings(
      Self.each(forEach, authorization).replacing("2️⃣", with: ""), [], environment: ["T": "m7Zr2B"],
      variables: ["given": "m7Zr2B"])
  }

  @Test func `is not reported in a variable that is given from outside`() {
    let text = Self.text(
      "{ url: https://a.example/, form: { password: \"${vars.p}\" } }", vars: "{ p: k5dXq0 }")
    expectWarnings(text, [], variables: ["p": "k5dXq0"])
    expectWarnings(
      Self.text(
        "{ url: https://a.example/, form: { password: \"${vars.p}\" } }", vars: "{ p: \"${env.P:-k5dXq0}\" }"),
      [], environment: ["P": "k5dXq0"])
  }

  @Test func `may be set by a session, or applied for a token`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions:
        quick: { headers: { X-Api-Key: 1️⃣k5dXq0 } }
      tokens:
        login:
          session: quick
          request: { url: https://a.example/token }
          capture: { access: { json: /access } }
          apply: { header: Authorization, value: 2️⃣k5dXq0 }
      requests: { r: { session: quick, token: login, request: { url: https://a.example/ } } }
      """,
      [
        Self.warning("the header 'X-Api-Key' contains a secret in plain text"),
        ExpectedWarning(
          mark: "2️⃣", code: .plainSecret,
          message: "the header 'Authorization' contains a secret in plain text",
          help: Self.warning("").help),
      ])
  }

  @Test func `of an alias is reported at its use`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { quick: {} }
      requests:
        r:
          session: quick
          request: &login { url: https://a.example/, form: { password: 1️⃣k5dXq0 } }
        s:
          session: quick
          request: 2️⃣*login
      """,
      [Self.warning("the field 'password' contains a secret in plain text", notes: [("2️⃣", "used here")])])
  }

  @Test(arguments: ["client_secret", "refresh_token"])
  func `of an OAuth 2 client is noticed`(_ key: String) {
    let other = key == "client_secret" ? "refresh_token" : "client_secret"
    expectWarnings(
      """
      version: 1
      name: m
      secrets: { key: { env: K } }
      sessions: { quick: {} }
      tokens:
        t:
          session: quick
          oauth2:
            token_url: https://a.example/
            client_id: a
            grant: refresh_token
            \(key): 1️⃣k5dXq0
            \(other): ${secrets.key}
      """, [Self.warning("'\(key)' is a secret in plain text")])
  }

  @Test func `is never part of a diagnostic`() {
    let value = "k5dXq0mZ7sT2vB9aLr4c"
    let text = Self.text(
      """
      url: https://user:\(value)@a.example/?token=\(value)
            headers: { Authorization: "Bearer \(value)", Cookie: "sid=\(value)" }
            json: { password: \(value), api_key: "${vars.k}" }
      """, vars: "{ k: \(value) }")
    let warnings = read(text).diagnostics
    #expect(warnings.count == 6)
    #expect(!"\(warnings)".contains(value))
  }

  @Test func `is searched for quickly in texts of any size`() {
    let long = String(repeating: "x", count: 60_000)
    let doubled = (1...48).map { "v\($0): \"${vars.v\($0 - 1)}${vars.v\($0 - 1)}\"" }.joined(separator: ", ")
    let text = Self.text(
      "{ url: \"https://a.example/${vars.v48}?\(long)\", form: { password: \"${vars.v48}\(long)\(long)\" } }",
      vars: "{ v0: \"\", \(doubled) }")
    expectWarnings(text, [])
  }
}
