import FerryPlan
import Testing

@testable import FerryTransfer

@Suite struct RedirectPolicyTests {
  typealias Hop = RedirectPolicy.Hop

  private func hop(_ method: String, _ url: String = "https://a.example/x/y?q=1", body: Bool = true) -> Hop {
    Hop(
      method: method, url: url,
      headers: [.init(name: "Content-Type", value: "image/png"), .init(name: "Accept", value: "*/*")],
      hasBody: body)
  }

  private func decide(
    _ status: Int, _ location: String?, _ hop: Hop, limit: Int = 10, followed: Int = 0
  ) -> RedirectPolicy.Decision {
    RedirectPolicy.decide(
      status: status, location: location, hop: hop, sensitive: SensitiveParts(),
      rules: .init(limit: limit), followed: followed)
  }

  private func follow(_ status: Int, _ location: String, _ hop: Hop, followed: Int = 0) -> Hop? {
    guard case .follow(let next, _) = decide(status, location, hop, followed: followed) else { return nil }
    return next
  }

  @Test(arguments: [200, 300, 304, 305, 306, 309, 399, 400], ["GET", "POST"])
  func otherStatusesAreNotFollowed(status: Int, method: String) {
    #expect(decide(status, "/z", hop(method)) == .stay)
  }

  @Test func a308OfAnUploadSessionIsTheResponse() {
    var rules = TransferRequest.Redirects()
    rules.keeps308 = true
    let hop = hop("PUT")
    for (status, isFollowed) in [(308, false), (307, true)] {
      let decision = RedirectPolicy.decide(
        status: status, location: "/z", hop: hop, sensitive: SensitiveParts(), rules: rules, followed: 0)
      #expect((decision != .stay) == isFollowed)
    }
  }

  @Test(arguments: [
    ("http://a.example/x", false), ("http://b.example/", false), ("https://b.example/", true), ("/z", true),
  ])
  func aRedirectOfASessionWithPinnedKeysKeepsTLS(location: String, isFollowed: Bool) {
    for acrossOrigins in [TransferRequest.AcrossOrigins.refuse, .strip, .follow] {
      let decision = RedirectPolicy.decide(
        status: 307, location: location, hop: hop("PUT"), sensitive: SensitiveParts(),
        rules: .init(acrossOrigins: acrossOrigins), isPinned: true, followed: 0)
      if case .refuse(let reason) = decision {
        #expect(!isFollowed && reason.contains("'pinned_public_key' of the session requires https"))
      } else {
        #expect(isFollowed && decision != .stay)
      }
    }
  }

  @Test(arguments: [
    ("/z", true), ("https://b.example/", true), ("http://b.example/", false),
    ("https://b.example:8443/", false), ("https://c.example/", false), ("http://169.254.169.254/", false),
    ("http://[::1]/", false), ("http://127.1/", false),
  ])
  func aRedirectLeadsOnlyToTheListedOrigins(location: String, isFollowed: Bool) throws {
    let origins = OriginSet(Set(["https://a.example", "https://b.example"].compactMap { Origin(url: $0) }))
    for acrossOrigins in [TransferRequest.AcrossOrigins.refuse, .strip, .follow] {
      let decision = RedirectPolicy.decide(
        status: 307, location: location, hop: hop("PUT"), sensitive: SensitiveParts(),
        rules: .init(acrossOrigins: acrossOrigins, origins: origins), followed: 0)
      if case .refuse(let reason) = decision {
        #expect(!isFollowed && reason.contains("'redirects: { origins: … }'"), "\(reason)")
      } else {
        #expect(isFollowed && decision != .stay)
      }
    }
  }

  @Test func aRedirectWithoutALocationIsTheResponse() {
    for status in [301, 302, 303, 307, 308] {
      #expect(decide(status, nil, hop("GET")) == .stay)
      #expect(decide(status, "", hop("GET")) == .stay)
    }
  }

  @Test(arguments: [
    (301, "GET"), (302, "GET"), (303, "GET"), (307, "GET"), (308, "GET"), (301, "HEAD"), (303, "HEAD"),
    (307, "POST"), (308, "POST"), (307, "PATCH"), (301, "PUT"), (302, "PUT"), (307, "PUT"), (302, "DELETE"),
  ])
  func methodAndBodyStayAsTheyAre(status: Int, method: String) {
    let next = follow(status, "/z", hop(method))
    #expect(next?.method == method)
    #expect(next?.hasBody == (status != 303))
    #expect(next?.headers.contains { $0.name == "Content-Type" } == (status != 303))
  }

  @Test(arguments: [
    (301, "POST"), (302, "POST"), (303, "POST"), (303, "PUT"), (303, "DELETE"), (303, "PATCH"),
    (302, "PATCH"),
    (301, "PURGE"),
  ])
  func aRedirectThatWouldTurnAPostIntoAGetIsTheResponse(status: Int, method: String) {
    #expect(decide(status, "/login", hop(method)) == .stay)
  }

  @Test(arguments: [
    ("/z", "https://a.example/z"), ("z", "https://a.example/x/z"), ("?p=2", "https://a.example/x/y?p=2"),
    ("//b.example/z", "https://b.example/z"), ("https://b.example/z w", "https://b.example/z%20w"),
  ])
  func aLocationIsResolvedAgainstTheURL(location: String, url: String) {
    #expect(follow(307, location, hop("PUT"))?.url == url)
  }

  @Test(arguments: [
    ("/z", "https://u:p@a.example/z"), ("https://a.example/z", "https://u:p@a.example/z"),
    ("https://evil:x@a.example/z", "https://u:p@a.example/z"),
  ])
  func aUserNameStaysWithItsOriginAndALocationHasNone(location: String, url: String) {
    #expect(follow(307, location, hop("PUT", "https://u:p@a.example/"))?.url == url)
    #expect(follow(307, "https://evil:x@b.example/z", hop("PUT"))?.url == "https://b.example/z")
  }

  @Test func aHostFieldStaysWithItsOrigin() {
    let from = Hop(
      method: "GET", url: "http://a.example/", headers: [.init(name: "Host", value: "v")], hasBody: false)
    #expect(follow(302, "http://b.example/", from)?.headers == [])
    #expect(follow(302, "/z", from)?.headers.count == 1)
  }

  @Test func aRequestWithoutSensitiveValuesGoesFromHTTPSToHTTP() {
    let plain = Hop(method: "GET", url: "https://a.example/", headers: [], hasBody: false)
    #expect(follow(302, "http://a.example/", plain)?.url == "http://a.example/")
  }

  @Test(arguments: ["ftp://b.example/z", "file:///etc/passwd", "javascript:alert(1)", "http://"])
  func otherSchemesAreRefused(location: String) {
    guard case .refuse(let reason) = decide(302, location, hop("GET")) else {
      Issue.record("followed \(location)")
      return
    }
    #expect(!reason.contains("example"))
  }

  @Test func asManyRedirectsAsTheLimitAreFollowed() {
    #expect(follow(302, "/z", hop("GET"), followed: 9) != nil)
    guard case .refuse(let reason) = decide(302, "/z", hop("GET"), followed: 10) else {
      Issue.record("followed an 11th")
      return
    }
    #expect(reason.hasPrefix("the request was redirected more than 10 times"))
    #expect(decide(302, "/z", hop("GET"), limit: 0) == .stay)
    if case .follow = decide(302, "/z", hop("GET"), limit: 1) {} else { Issue.record("not followed") }
  }
}
