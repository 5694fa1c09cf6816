import FerryPlan
import Testing

@testable import FerryTransfer

/// Which parts of a sensitive request are sent to another origin, after a redirect or to a URL from a response.
@Suite struct OriginGuardTests {
  typealias Field = TransferRequest.HeaderField

  private static let own = Field(
    name: "X-Key", value: "k", sensitivity: .init(.request, values: ["allocate.key"]))
  private static let session = Field(
    name: "X-S", value: "s", sensitivity: .init(.session, values: ["secrets.s"]))
  private static let token = Field(
    name: "Authorization", value: "Bearer t", sensitivity: .init(.token, values: ["token.access"]))
  private static let literal = Field(name: "Cookie", value: "a=b")
  private static let accept = Field(name: "Accept", value: "*/*")

  private func redirect(
    _ fields: [Field], _ sensitive: SensitiveParts = SensitiveParts(),
    _ rules: TransferRequest.AcrossOrigins = .refuse, from: String = "https://a.example/x",
    to location: String = "https://b.example/", body: Bool = true
  ) -> RedirectPolicy.Decision {
    let hop = RedirectPolicy.Hop(
      method: "PUT", url: from, headers: fields + [Self.accept], hasBody: body)
    return RedirectPolicy.decide(
      status: 307, location: location, hop: hop, sensitive: sensitive, rules: .init(acrossOrigins: rules),
      followed: 0)
  }

  private func refusal(_ decision: RedirectPolicy.Decision) -> String? {
    if case .refuse(let reason) = decision { reason } else { nil }
  }

  private func headers(_ decision: RedirectPolicy.Decision) -> [String]? {
    if case .follow(let hop, _) = decision { hop.headers.map(\.name) } else { nil }
  }

  // MARK: Redirects

  @Test(arguments: [
    ([own], SensitiveParts(), "allocate.key in the header X-Key"),
    ([session], SensitiveParts(), "secrets.s in the header X-S"),
    ([token], SensitiveParts(), "token.access in the header Authorization"),
    ([literal], SensitiveParts(), "the header Cookie"),
    ([], SensitiveParts(body: ["secrets.client_secret"]), "secrets.client_secret in the body"),
    ([], SensitiveParts(url: ["secrets.q"]), "secrets.q in the URL"),
    ([], SensitiveParts(urlBeginning: ["allocate.u"]), "allocate.u in the URL"),
  ])
  func aSensitiveRequestIsNotRedirectedToAnotherOrigin(
    fields: [Field], sensitive: SensitiveParts, named: String
  ) throws {
    for location in [
      "https://b.example/", "https://a.example:444/", "https://x.a.example/", "http://a.example/",
    ] {
      let reason = try #require(refusal(redirect(fields, sensitive, to: location)), "\(location)")
      #expect(reason.contains(named) && reason.contains("across_origins"), "\(reason)")
    }
    for location in ["/z", "https://A.EXAMPLE:443/z"] {
      #expect(headers(redirect(fields, sensitive, to: location)) == (fields + [Self.accept]).map(\.name))
    }
  }

  @Test func aUserNameOfTheURLIsSensitive() {
    #expect(refusal(redirect([], from: "https://u:p@a.example/"))?.contains("user name") == true)
    #expect(headers(redirect([], .init(), .strip, from: "https://u:p@a.example/")) == ["Accept"])
  }

  @Test func stripOmitsTheHeaderAndRejectsOtherValues() {
    let decision = redirect([Self.own, Self.token], .init(), .strip)
    #expect(headers(decision) == ["Accept"])
    guard case .follow(_, let withheld) = decision else { return }
    #expect(withheld.map(\.owner) == [.request, .token])
    #expect(refusal(redirect([Self.own], .init(body: ["secrets.x"]), .strip)) != nil)
    #expect(refusal(redirect([], .init(url: ["secrets.x"]), .strip)) != nil)
    // Without its body, the request reveals nothing.
    #expect(headers(redirect([], .init(body: ["secrets.x"]), .strip, body: false)) == ["Accept"])
  }

  @Test func followSendsEverything() {
    for location in ["https://b.example/", "http://b.example/"] {
      #expect(
        headers(redirect([Self.own, Self.token], .init(body: ["secrets.x"]), .follow, to: location))
          == ["X-Key", "Authorization", "Accept"])
    }
  }

  @Test func sensitiveValuesGoFromHTTPSToHTTPOnlyUnderFollow() {
    for rules in [TransferRequest.AcrossOrigins.refuse, .strip] {
      let reason = refusal(redirect([Self.token], .init(), rules, to: "http://a.example/"))
      #expect(reason?.contains("'redirects: { across_origins: follow }'") == true)
    }
  }

  @Test func aTokenIsRedirectedToWhatTheManifestNamesForIt() throws {
    let origin = try #require(Origin(url: "https://up.example.com"))
    let sensitive = SensitiveParts(known: KnownOrigins(token: OriginSet([origin])))
    #expect(
      headers(redirect([Self.token], sensitive, to: "https://up.example.com/")) == [
        "Authorization", "Accept",
      ])
    #expect(refusal(redirect([Self.token], sensitive, to: "https://example.com/")) != nil)
    #expect(refusal(redirect([Self.token], sensitive, to: "http://up.example.com/")) != nil)
    // The manifest names this origin only for the token.
    #expect(refusal(redirect([Self.own], sensitive, to: "https://up.example.com/")) != nil)
  }

  // MARK: A URL that a response named

  private func first(
    _ url: String, _ fields: [Field], _ sensitive: SensitiveParts,
    _ rules: TransferRequest.AcrossOrigins = .refuse
  ) throws(TransportFailure) -> (hop: RedirectPolicy.Hop, withheld: [OriginGuard.Withheld]) {
    try OriginGuard.firstHop(
      TransferRequest(
        id: 1, method: "PUT", url: url, headers: fields, body: .bytes([1]), sensitive: sensitive,
        redirects: .init(acrossOrigins: rules)))
  }

  private func captured(_ parts: SensitiveParts = SensitiveParts()) throws -> SensitiveParts {
    var parts = parts
    parts.isURLCaptured = true
    let home = OriginSet([try #require(Origin(url: "https://a.example"))])
    parts.known = KnownOrigins(request: home, session: home, token: home)
    return parts
  }

  @Test(arguments: [
    "https://b.example/u", "http://a.example/u", "https://a.example:444/u", "https://a.example@b.example/u",
    "https://a.example.b.example/u",
  ])
  func theTokenAndTheSessionsFieldsAreOmittedForOtherOrigins(url: String) throws {
    let fields = [Self.session, Self.token, Self.accept]
    let (hop, withheld) = try first(url, fields, try captured())
    #expect(hop.headers.map(\.name) == ["Accept"])
    #expect(withheld.count == 2)
    let (home, none) = try first("https://A.example/u", fields, try captured())
    #expect(home.headers == fields && none.isEmpty)
    let (all, _) = try first(url, fields, try captured(), .follow)
    #expect(all.headers == fields)
  }

  @Test func aURLOfTheManifestIsNotChecked() throws {
    let (hop, _) = try first(
      "https://b.example/u", [Self.own, Self.token], SensitiveParts(body: ["secrets.x"]))
    #expect(hop.headers.count == 2)
  }

  @Test(arguments: [
    ([own], SensitiveParts(), "allocate.key in the header X-Key"),
    ([], SensitiveParts(body: ["secrets.x"]), "secrets.x in the body"),
    ([], SensitiveParts(url: ["secrets.x"]), "secrets.x in the URL"),
  ])
  func theRequestsOwnValuesAreNotSentToOtherOrigins(fields: [Field], parts: SensitiveParts, named: String)
    throws
  {
    let failure = #expect(throws: TransportFailure.self) {
      try first("https://b.example/u?k=value", fields, try captured(parts))
    }
    #expect(failure?.code == .redirect && failure?.mayHaveReachedServer == false)
    #expect(failure?.message.contains(named) == true && failure?.message.contains("value") == false)
    _ = try first("https://a.example/u", fields, try captured(parts))
    _ = try first("https://b.example/u", fields, try captured(parts), .follow)
  }

  @Test func aPreSignedURLIsUsed() throws {
    let url = "https://store.example/x?signature=s"
    let (hop, _) = try first(url, [Self.accept], try captured(.init(urlBeginning: ["allocate.u"])))
    #expect(hop.url == url && hop.headers == [Self.accept])
  }

  @Test func aUserNameOfTheManifestGoesBackToItsOriginOnly() throws {
    var sensitive = try captured()
    sensitive.known.userinfo = [
      try #require(Origin(url: "https://a.example")): Userinfo(user: "u", password: "p")
    ]
    #expect(try first("https://a.example/up/7", [], sensitive).hop.url == "https://u:p@a.example/up/7")
    #expect(try first("https://b.example/up/7", [], sensitive).hop.url == "https://b.example/up/7")
  }

  @Test func omittedValuesAreReportedWithTheLineThatAllowsThem() throws {
    let origin = try #require(Origin(url: "https://b.example:8443"))
    let withheld = OriginGuard.Withheld(
      text: "token.access in the header Authorization", owner: .token, origin: origin)
    let text = try #require(OriginGuard.explanation([withheld], at: origin))
    #expect(
      text.hasPrefix("ferry did not send token.access in the header Authorization to https://b.example:8443,")
    )
    #expect(text.contains("origins: [\"https://b.example:8443\"]"))
    // A second redirect led back to the first server, so the message names the server of the first redirect.
    let back = try #require(OriginGuard.explanation([withheld], at: Origin(url: "https://a.example")))
    #expect(back.contains("when a redirect led to https://b.example:8443,"))
    #expect(back.contains("origins: [\"https://b.example:8443\"]") && !back.contains("a.example"))
    #expect(OriginGuard.explanation([], at: origin) == nil)
  }

  @Test(arguments: [("http://b.example/", false), ("https://b.example/", true)])
  func aSessionWithPinnedKeysSendsNothingToAURLOfAResponseWithoutTLS(url: String, isSent: Bool) throws {
    var tls = TLSOptions()
    tls.pinnedPublicKey = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    for acrossOrigins in [TransferRequest.AcrossOrigins.refuse, .strip, .follow] {
      var request = TransferRequest(
        id: 1, method: "PUT", url: url, sensitive: SensitiveParts(isURLCaptured: true),
        redirects: .init(acrossOrigins: acrossOrigins))
      request.connection = ConnectionOptions(tls: tls)
      let failure: TransportFailure?
      do throws(TransportFailure) {
        _ = try OriginGuard.firstHop(request)
        failure = nil
      } catch {
        failure = error
      }
      #expect((failure == nil) == isSent)
      #expect(failure == nil || failure?.code == .redirect && failure?.mayHaveReachedServer == false)
      // The author of the manifest has chosen this URL.
      request.sensitive.isURLCaptured = false
      _ = try OriginGuard.firstHop(request)
    }
  }
}
