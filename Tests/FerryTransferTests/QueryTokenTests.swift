import FerryPlan
import Testing

@testable import FerryTransfer

/// A token that is sent as a parameter of the URL's query.
@Suite struct `A token in the query` {
  private let token = QueryToken(name: "access%5Ftoken", value: "a%2Fb")

  @Test(arguments: [
    ("http://h/p", "http://h/p?access%5Ftoken=a%2Fb"),
    ("http://h/p?", "http://h/p?access%5Ftoken=a%2Fb"),
    ("http://h/p?x=1", "http://h/p?x=1&access%5Ftoken=a%2Fb"),
    ("http://h/p?x=1&#f?g", "http://h/p?x=1&access%5Ftoken=a%2Fb#f?g"),
    ("http://h/p#f", "http://h/p?access%5Ftoken=a%2Fb#f"),
    ("http://h/p?access%5Ftoken=c", "http://h/p?access%5Ftoken=c"),
    ("http://h/p?no_access%5Ftoken=c", "http://h/p?no_access%5Ftoken=c&access%5Ftoken=a%2Fb"),
  ])
  func `is added to the URL before its fragment, once`(_ url: String, _ whole: String) {
    #expect(token.added(to: url) == whole)
  }

  private func request(_ url: String, _ rules: TransferRequest.AcrossOrigins = .refuse) -> TransferRequest {
    var request = TransferRequest(id: 1, method: "GET", url: url, redirects: .init(acrossOrigins: rules))
    request.queryToken = token
    request.headers = [token.placeholder]
    return request
  }

  @Test(arguments: [
    ("https://b.example/", TransferRequest.AcrossOrigins.refuse, Bool?.none),
    ("https://b.example/", .strip, false), ("https://b.example/", .follow, true),
    ("https://known.example/", .refuse, true), ("http://known.example/", .refuse, nil),
    ("/other", .refuse, true),
  ])
  func `follows a redirect where a header field with it would`(
    _ location: String, _ rules: TransferRequest.AcrossOrigins, _ isSent: Bool?
  ) throws {
    let request = request("https://a.example/x", rules)
    var known = KnownOrigins()
    known.token.origins = [Origin(scheme: "https", host: "known.example", port: 443)]
    let hop = RedirectPolicy.Hop(method: "GET", url: request.url, headers: request.headers, hasBody: false)
    #expect(hop.sentURL(of: request) == "https://a.example/x?access%5Ftoken=a%2Fb")
    switch RedirectPolicy.decide(
      status: 307, location: location, hop: hop, sensitive: SensitiveParts(known: known),
      rules: request.redirects, followed: 0)
    {
    case .follow(let next, let withheld):
      #expect(next.sentURL(of: request).contains("a%2Fb") == isSent)
      #expect(!next.url.contains("a%2Fb"))
      #expect(withheld.map(\.text) == (isSent == true ? [] : ["the token in the query"]))
    case .refuse(let reason):
      #expect(isSent == nil && reason.contains("the token in the query"), "\(reason)")
    case .stay: Issue.record("the redirect is followed or refused")
    }
  }

  @Test func `is withheld from a URL that a response names, and the explanation says so`() throws {
    var request = request("https://b.example/up")
    request.sensitive.isURLCaptured = true
    let (hop, withheld) = try OriginGuard.firstHop(request)
    #expect(hop.sentURL(of: request) == "https://b.example/up")
    let reason = OriginGuard.explanation(withheld, at: CurlURL(hop.url)?.origin)
    #expect(
      reason
        == "ferry did not send the token in the query to https://b.example, because the manifest does not name this "
        + "origin for the token; to send it, add 'origins: [\"https://b.example\"]' to the token's 'apply'",
      "\(String(describing: reason))")
  }

  @Test func `is not printed`() {
    #expect("\(token)\(String(reflecting: token))\([token])".contains("a%2Fb") == false)
  }
}
