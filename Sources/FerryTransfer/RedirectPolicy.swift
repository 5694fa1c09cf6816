import FerryPlan

/// Where an answer sends a request, and what of the request goes along (RFC 9110, section 15.4).
///
/// ferry follows redirects itself: libcurl drops Authorization and Cookie at another host, but not
/// the credentials that an API puts into fields of its own.
enum RedirectPolicy {
  /// So many redirects are followed.
  static let limit = 10

  /// A request as one server sees it.
  struct Hop: Equatable {
    var method: String
    var url: String
    var headers: [TransferRequest.HeaderField]
    var hasBody: Bool
  }

  enum Decision: Equatable {
    /// The answer is the answer.
    case stay
    case follow(Hop)
    /// With the reason; holds no URL.
    case refuse(String)
  }

  static func isRedirect(status: Int) -> Bool {
    switch status {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }

  /// - Parameter followed: the redirects before this one.
  static func decide(status: Int, location: String?, hop: Hop, followed: Int) -> Decision {
    guard isRedirect(status: status), let location, !location.isEmpty else { return .stay }
    guard followed < limit else { return .refuse("more than \(limit) redirects") }
    guard let url = CurlURL(hop.url), let from = url.origin, url.resolve(location),
      let to = url.origin, let text = url.text
    else { return .refuse("a redirect to what is not a URL") }
    guard to.scheme == "http" || to.scheme == "https" else {
      return .refuse("a redirect to what is neither http nor https")
    }
    if from.scheme == "https", to.scheme == "http", hop.headers.contains(where: isCredential) {
      return .refuse("a redirect from https to http of a request with credentials")
    }

    var next = Hop(method: hop.method, url: text, headers: hop.headers, hasBody: hop.hasBody)
    if status == 303, hop.method != "HEAD" {
      next.method = "GET"
    } else if status == 301 || status == 302, hop.method == "POST" {
      next.method = "GET"
    }
    if next.method != hop.method || status == 303 {
      next.hasBody = false
      next.headers.removeAll(where: describesBody)
    }
    if from != to {
      next.headers.removeAll { isCredential($0) || $0.name.lowercased() == "host" }
    }
    return .follow(next)
  }

  /// What stays with its origin, whether or not the manifest knows that it is a secret.
  static func isCredential(_ field: TransferRequest.HeaderField) -> Bool {
    if field.isCredential { return true }
    switch field.name.lowercased() {
    case "authorization", "cookie", "proxy-authorization": return true
    default: return false
    }
  }

  /// Fields that mean nothing without the body.
  private static func describesBody(_ field: TransferRequest.HeaderField) -> Bool {
    switch field.name.lowercased() {
    case "content-encoding", "content-language", "content-length", "content-location", "content-range",
      "content-type", "expect":
      true
    default:
      false
    }
  }
}
