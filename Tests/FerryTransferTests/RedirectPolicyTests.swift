import Testing

@testable import FerryTransfer

@Suite struct RedirectPolicyTests {
  typealias Hop = RedirectPolicy.Hop

  private func hop(_ method: String, _ url: String = "https://a.example/x/y?q=1", body: Bool = true) -> Hop {
    Hop(
      method: method, url: url,
      headers: [
        .init(name: "Authorization", value: "Bearer t"),
        .init(name: "X-Api-Key", value: "k", isCredential: true),
        .init(name: "Content-Type", value: "image/png"), .init(name: "Accept", value: "*/*"),
      ], hasBody: body)
  }

  private func follow(_ status: Int, _ location: String, _ hop: Hop, followed: Int = 0) -> Hop? {
    guard
      case .follow(let next) = RedirectPolicy.decide(
        status: status, location: location, hop: hop, followed: followed)
    else { return nil }
    return next
  }

  @Test(arguments: [200, 300, 304, 305, 306, 400])
  func otherStatusesAreNoRedirects(status: Int) {
    #expect(RedirectPolicy.decide(status: status, location: "/z", hop: hop("GET"), followed: 0) == .stay)
  }

  @Test func aRedirectWithoutALocationIsTheAnswer() {
    #expect(RedirectPolicy.decide(status: 302, location: nil, hop: hop("GET"), followed: 0) == .stay)
    #expect(RedirectPolicy.decide(status: 302, location: "", hop: hop("GET"), followed: 0) == .stay)
  }

  @Test(arguments: [
    (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
    (307, "POST", "POST", true), (308, "POST", "POST", true), (301, "PUT", "PUT", true),
    (302, "PATCH", "PATCH", true), (303, "PUT", "GET", false), (307, "PUT", "PUT", true),
    (301, "HEAD", "HEAD", true), (303, "HEAD", "HEAD", false), (303, "DELETE", "GET", false),
  ])
  func methodAndBodyFollowTheStatus(status: Int, method: String, expected: String, keepsBody: Bool) {
    let next = follow(status, "/z", hop(method))
    #expect(next?.method == expected)
    #expect(next?.hasBody == keepsBody)
    #expect(next?.headers.contains { $0.name == "Content-Type" } == keepsBody)
  }

  @Test(arguments: [
    ("/z", "https://a.example/z"), ("z", "https://a.example/x/z"), ("?p=2", "https://a.example/x/y?p=2"),
    ("//b.example/z", "https://b.example/z"), ("https://b.example/z w", "https://b.example/z%20w"),
  ])
  func aLocationIsResolvedAgainstTheURL(location: String, url: String) {
    #expect(follow(307, location, hop("PUT"))?.url == url)
  }

  @Test(arguments: [
    ("https://a.example/z", true), ("https://A.EXAMPLE:443/z", true), ("https://a.example:444/z", false),
    ("https://b.example/z", false), ("https://x.a.example/z", false), ("//a.example:80/", false),
  ])
  func credentialsStayWithTheirOrigin(location: String, stay: Bool) {
    let names = follow(307, location, hop("PUT"))?.headers.map(\.name)
    #expect(names == (stay ? ["Authorization", "X-Api-Key"] : []) + ["Content-Type", "Accept"])
  }

  @Test func aHostFieldStaysWithItsOrigin() {
    let from = Hop(
      method: "GET", url: "http://a.example/", headers: [.init(name: "Host", value: "v")], hasBody: false)
    #expect(follow(302, "http://b.example/", from)?.headers == [])
    #expect(follow(302, "/z", from)?.headers.count == 1)
  }

  @Test func credentialsAreNotTakenFromHTTPSToHTTP() {
    let decision = RedirectPolicy.decide(
      status: 307, location: "http://a.example/", hop: hop("PUT"), followed: 0)
    #expect(decision == .refuse("a redirect from https to http of a request with credentials"))
    let plain = Hop(method: "GET", url: "https://a.example/", headers: [], hasBody: false)
    #expect(follow(302, "http://a.example/", plain)?.url == "http://a.example/")
  }

  @Test(arguments: ["ftp://b.example/z", "file:///etc/passwd", "javascript:alert(1)", "http://"])
  func otherSchemesAreRefused(location: String) {
    guard
      case .refuse(let reason) = RedirectPolicy.decide(
        status: 302, location: location, hop: hop("GET"), followed: 0)
    else {
      Issue.record("followed \(location)")
      return
    }
    #expect(!reason.contains("example"))
  }

  @Test func tenRedirectsAreFollowed() {
    #expect(follow(302, "/z", hop("GET"), followed: 9) != nil)
    #expect(
      RedirectPolicy.decide(status: 302, location: "/z", hop: hop("GET"), followed: 10)
        == .refuse("more than 10 redirects"))
  }
}
