import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// Requests for access tokens, and the responses to them.
@Suite struct `A request for an access token` {
  private let bindings = Bindings(secrets: [
    "secret": SensitiveValue("p:a s+%"), "refresh": SensitiveValue("r/1&"),
  ])

  private func grant(_ body: (inout OAuth2Grant) -> Void = { _ in }) -> OAuth2Grant {
    var grant = OAuth2Grant()
    grant.clientID = Template(literal: "my app")
    grant.clientSecret = Template([.reference(.secret("secret"))])
    body(&grant)
    return grant
  }

  private func build(
    _ grant: OAuth2Grant, _ bindings: Bindings? = nil, headers: [RequestTemplate.Field] = []
  ) throws -> (built: BuiltRequest, body: String) {
    let template = RequestTemplate(
      method: "POST", url: Template(literal: "http://h/token"), body: .oauth2(grant))
    let built = try RequestBuilder(template, sessionHeaders: headers).build(bindings ?? self.bindings)
    guard case .bytes(let bytes) = built.body else { return (built, "") }
    return (built, String(decoding: bytes, as: UTF8.self))
  }

  private func refreshing(_ grant: inout OAuth2Grant) {
    grant.grant = .refreshToken
    grant.refreshToken = Template([.reference(.secret("refresh"))])
  }

  /// RFC 6749, section 2.3.1.
  @Test func `has encoded client credentials in Basic`() throws {
    let (built, body) = try build(grant { $0.scope = Template(literal: "a b") })
    // my%20app:p%3Aa%20s%2B%25
    let authorization = built.headers.first { $0.name == "Authorization" }
    #expect(authorization?.value == "Basic bXklMjBhcHA6cCUzQWElMjBzJTJCJTI1")
    #expect(authorization?.sensitivity == .init(.request, values: ["secrets.secret"]))
    #expect(body == "grant_type=client_credentials&scope=a+b")
    #expect(built.headers.contains { $0.name == "Accept" && $0.value == "application/json" })
    #expect(
      built.headers.contains {
        $0.name == "Content-Type" && $0.value == "application/x-www-form-urlencoded"
      })
    // Masks find the secret, but not all of its encodings.
    #expect(built.clientCredentials == "bXklMjBhcHA6cCUzQWElMjBzJTJCJTI1")
  }

  @Test func `has client credentials in the body, or only a client ID`() throws {
    let (built, body) = try build(grant { $0.clientAuth = .body })
    #expect(body == "grant_type=client_credentials&client_id=my+app&client_secret=p%3Aa+s%2B%25")
    #expect(built.sensitive.body == ["secrets.secret"])
    #expect(!built.headers.contains { $0.name == "Authorization" } && built.clientCredentials == nil)

    let (open, openBody) = try build(
      grant {
        $0.clientSecret = nil
        refreshing(&$0)
      })
    #expect(openBody == "grant_type=refresh_token&client_id=my+app&refresh_token=r%2F1%26")
    #expect(!open.headers.contains { $0.name == "Authorization" })
  }

  @Test func `keeps a session's Accept, and replaces its Authorization`() throws {
    let (built, _) = try build(
      grant(),
      headers: [
        .init(name: "accept", value: Template(literal: "a/b")),
        .init(name: "authorization", value: Template(literal: "x")),
      ])
    #expect(built.headers.filter { $0.name.lowercased() == "accept" }.map(\.value) == ["a/b"])
    #expect(built.headers.filter { $0.name.lowercased() == "authorization" }.count == 1)
  }

  @Test func `has the refresh token that the server issued last`() throws {
    var bindings = bindings
    bindings.refreshToken = SensitiveValue("r 2")
    let (built, body) = try build(grant(refreshing), bindings)
    #expect(body == "grant_type=refresh_token&refresh_token=r+2")
    #expect(built.sensitive.body == ["secrets.refresh"])
  }

  @Test func `belongs to a chain of refresh tokens that begins with that of the manifest`() throws {
    func chain(_ url: String, _ id: String, refresh: String) throws -> RefreshChain {
      let template = RequestTemplate(
        url: Template(literal: url),
        body: .oauth2(
          grant {
            refreshing(&$0)
            $0.clientID = Template(literal: id)
          }))
      return try #require(
        try RequestBuilder(template).refreshChain(
          Bindings(secrets: ["refresh": SensitiveValue(refresh), "secret": SensitiveValue("s")])))
    }
    let first = try chain("http://h/token", "a", refresh: "r")
    #expect(first.first.revealed == "r")
    #expect(try chain("http://h/token", "a", refresh: "r").id == first.id)
    for other in [
      try chain("http://h/token2", "a", refresh: "r"), try chain("http://h/token", "b", refresh: "r"),
      try chain("http://h/token", "a", refresh: "r2"),
    ] { #expect(other.id != first.id) }
    #expect(!first.id.contains("r") && first.id.utf8.count == 64)
    #expect(
      throws: TransportFailure(.request, "'refresh_token' of 'oauth2' is empty", mayHaveReachedServer: false)
    ) { try chain("http://h/token", "a", refresh: "") }
  }

  private func error(_ body: String, refreshing isRefreshing: Bool = false) -> TokenError? {
    OAuth2Response(
      TransferResponse(status: 400, headers: [], body: Array(body.utf8), url: "http://h/token")
    ).error(grant { if isRefreshing { refreshing(&$0) } }, masked: { $0.replacing("hush", with: "***") })
  }

  /// RFC 6749, section 5.2.
  @Test func `reads the error in a response`() {
    let final = error(#"{"error": "invalid_grant", "error_description": "hush expired"}"#, refreshing: true)
    #expect(final?.text == "invalid_grant: *** expired" && final?.isTemporary == false)
    #expect(final?.remedy?.contains("obtain a new one") == true)
    let busy = error(#"{"error": "temporarily_unavailable"}"#)
    #expect(busy == TokenError(text: "temporarily_unavailable", isTemporary: true))
    #expect(error(#"{"error": "server_error"}"#)?.isTemporary == true)
    #expect(error(#"{"error": "invalid_scope"}"#)?.remedy == "check 'scope' of 'oauth2'")
    #expect(error(#"{"error": "custom"}"#) == TokenError(text: "custom", isTemporary: false))
    for body in ["{}", "", "<html>", #"{"error": {"code": 1}}"#, "[1]"] { #expect(error(body) == nil) }
  }

  @Test func `masks the whole text before it is cut`() {
    let padding = String(repeating: " ", count: 4_094)
    let shown = error(#"{"error": "\#(padding)hush", "error_description": "\#(padding)hush"}"#)
    #expect(shown?.text == "***: ***")
  }

  @Test func `does not show a long description or control characters`() {
    let long = String(repeating: "x", count: 5_000)
    let shown = error(#"{"error": "e\u001b[31m", "error_description": "\#(long)"}"#)?.text ?? ""
    #expect(shown.utf8.count < 500 && !shown.unicodeScalars.contains("\u{1b}"))
  }
}
