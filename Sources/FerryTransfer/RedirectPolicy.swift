import FerryPlan

/// Determines the target of a redirect and the parts of the request that are sent there (RFC 9110, section
/// 15.4).
///
/// ferry follows redirects itself. libcurl drops Authorization and Cookie for another host, but not other
/// sensitive header fields, URLs and bodies.
enum RedirectPolicy {
  /// A request as sent to one server.
  struct Hop: Equatable {
    var method: String
    var url: String
    var headers: [TransferRequest.HeaderField]
    var hasBody: Bool
    /// The value of the Authorization field that responds to a challenge; `nil` for no credentials.
    var authorization: String?
    /// The scheme in which libcurl authenticates the connection; `nil` for none.
    var connectionAuthentication: ConnectionAuthentication?

    var isSecure: Bool {
      // For each request, so without a copy of the prefix.
      url.utf8.prefix(6).elementsEqual("https:".utf8) { byte, expected in
        byte == expected || byte | 0x20 == expected && byte >= UInt8(ascii: "A")
      }
    }
  }

  enum Decision: Equatable {
    /// The redirect is not followed; it is the final response to the request.
    case stay
    case follow(Hop, withheld: [OriginGuard.Withheld])
    /// The redirect is refused. The reason does not contain URLs.
    case refuse(String)
  }

  /// Whether a response with this status redirects a request with this method, if the response has a
  /// Location.
  ///
  /// A redirect that would turn a request that sends data into a GET is not followed. Servers use such redirects to
  /// confirm an action or to show a login page, and the response to the GET would be mistaken for the response to the
  /// request. RFC 9110 allows clients to change POST to GET at 301 and 302, and requires it at 303.
  static func isFollowed(status: Int, method: String) -> Bool {
    switch status {
    case 307, 308: return true
    case 301, 302: return keepsMeaning(method)
    case 303: return method == "GET" || method == "HEAD"
    default: return false
    }
  }

  /// Whether clients resend the method unchanged at 301 and 302, and sending the request twice has the same
  /// effect as sending it once.
  private static func keepsMeaning(_ method: String) -> Bool {
    ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(method)
  }

  /// Decides whether to follow a redirect, and with which request.
  ///
  /// - Parameters:
  ///   - isPinned: whether the session trusts only servers with certain public keys.
  ///   - followed: the number of redirects followed before this one.
  static func decide(
    status: Int, location: String?, hop: Hop, sensitive: SensitiveParts, rules: TransferRequest.Redirects,
    isPinned: Bool = false, followed: Int
  ) -> Decision {
    guard isFollowed(status: status, method: hop.method), rules.limit > 0, !(status == 308 && rules.keeps308),
      let location, !location.isEmpty
    else { return .stay }
    guard followed < rules.limit else {
      return .refuse(
        "the request was redirected more than \(rules.limit) times ('redirects: { limit: … }' in the session)"
      )
    }
    guard let url = CurlURL(hop.url), let from = url.origin else {
      return .refuse("the request was redirected from an invalid URL")
    }
    let userinfo = url.userinfo
    guard url.resolve(location), let to = url.origin else {
      return .refuse("the request was redirected to an invalid URL")
    }
    guard to.scheme == "http" || to.scheme == "https" else {
      return .refuse("the request was redirected to a URL that is neither http nor https")
    }
    guard to.host.utf8.count <= OriginGuard.hostLimit else {
      return .refuse(
        "the request was redirected to a host whose name is longer than \(OriginGuard.hostLimit) bytes")
    }
    // Without TLS, the server has no key to compare.
    guard !isPinned || to.scheme == "https" else {
      return .refuse("the redirect to \(to) was not followed: \(OriginGuard.pinRule)")
    }
    guard rules.mayLead(to: to) else {
      return .refuse("the redirect to \(to) was not followed: \(OriginGuard.originsRule)")
    }
    // A user name in a Location comes from the server and only obscures the host (RFC 9110, section 4.2.4).
    url.set(from == to ? userinfo : nil)
    guard let text = url.text else { return .refuse("the request was redirected to an invalid URL") }
    var next = Hop(method: hop.method, url: text, headers: hop.headers, hasBody: hop.hasBody)
    var withheld: [OriginGuard.Withheld] = []
    if status == 303 {
      next.hasBody = false
      next.headers.removeAll(where: \.describesBody)
    }
    if from != to {
      switch OriginGuard.admit(
        next, sensitive, rules.acrossOrigins, hasUserinfo: userinfo != nil, from: from, to: to)
      {
      case .refuse(let reason): return .refuse(reason)
      case .send(let headers, let left):
        next.headers = headers
        withheld = left
      }
    }
    return .follow(next, withheld: withheld)
  }
}

extension TransferRequest.HeaderField {
  /// Whether the field is meaningless without the body.
  package var describesBody: Bool {
    switch name.lowercased() {
    case "content-encoding", "content-language", "content-length", "content-location", "content-range",
      "content-type", "expect":
      true
    default:
      false
    }
  }
}

extension RedirectPolicy.Hop {
  /// Adds the request's condition if it applies to this hop's URL, and removes it otherwise.
  mutating func setCondition(of request: TransferRequest) {
    guard let condition = request.condition else { return }
    headers.removeAll { $0 == condition.field }
    if condition.applies(url) { headers.append(condition.field) }
  }
}
