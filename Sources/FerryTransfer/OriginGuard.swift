import FerryPlan

/// Decides which origins may receive a request with its sensitive content.
enum OriginGuard {
  /// A header field that is not sent to an origin.
  struct Withheld: Equatable {
    /// The field as described in messages, for example `token.access_token in the header Authorization`.
    var text: String
    var owner: TransferRequest.HeaderField.Owner
    /// The origin to which the field was not sent. Later hops do not receive it either.
    var origin: Origin
    /// Whether the field represents a token in the query.
    var isInQuery = false
  }

  enum Admission: Equatable {
    case send([TransferRequest.HeaderField], withheld: [Withheld])
    /// The request is refused. The reason contains only the names of values and origins.
    case refuse(String)
  }

  /// The maximum length of a host name in bytes, which no DNS name exceeds (RFC 1035, section 2.3.4). The
  /// length is limited because host names appear in messages.
  static let hostLimit = 255

  /// The rule for sessions with pinned keys, in messages.
  static let pinRule =
    "'pinned_public_key' of the session requires https, because a server without TLS has no key"

  /// The rule for sessions that list the origins of their requests, in messages.
  static let originsRule =
    "neither the URLs of the session in the manifest nor 'redirects: { origins: … }' have this origin"

  // MARK: The first request

  /// The request in the form in which the origin of its URL may receive it. Only a URL from a response is
  /// checked; all other URLs come from the manifest.
  ///
  /// - Throws: a failure with the code `redirect`, before anything is sent.
  static func firstHop(
    _ request: TransferRequest
  ) throws(TransportFailure) -> (hop: RedirectPolicy.Hop, withheld: [Withheld]) {
    var hop = RedirectPolicy.Hop(
      method: request.method, url: request.url, headers: request.headers, hasBody: request.body.isSent)
    guard request.sensitive.isURLCaptured else { return (hop, []) }
    // The URL is parsed by libcurl's own parser, so that libcurl and this check cannot see different hosts.
    guard let url = CurlURL(request.url), let origin = url.origin else {
      throw EasyHandle.malformed("the URL in a response or a list is invalid")
    }
    guard origin.host.utf8.count <= hostLimit else {
      throw EasyHandle.malformed("the host name in a response or a list is longer than \(hostLimit) bytes")
    }
    // Without TLS, the server has no key to compare.
    guard !request.isPinned || origin.scheme == "https" else {
      throw TransportFailure(
        .redirect, "the request was not sent to \(origin), which is named by a response: \(pinRule)",
        mayHaveReachedServer: false)
    }
    guard request.redirects.mayLead(to: origin) else {
      throw TransportFailure(
        .redirect,
        "the request was not sent to \(origin), which is named by a response or a list: \(originsRule)",
        mayHaveReachedServer: false)
    }
    if url.userinfo == nil, let userinfo = request.sensitive.known.userinfo[origin] {
      url.set(userinfo)
      hop.url = url.text ?? hop.url
    }
    switch admit(request, to: origin) {
    case .send(let headers, let withheld):
      hop.headers = headers
      return (hop, withheld)
    case .refuse(let reason):
      throw TransportFailure(.redirect, reason, mayHaveReachedServer: false)
    }
  }

  private static func admit(_ request: TransferRequest, to origin: Origin) -> Admission {
    let sensitive = request.sensitive
    guard request.redirects.acrossOrigins != .follow else { return .send(request.headers, withheld: []) }
    let isKnown = sensitive.known.request.contains(origin)
    var headers: [TransferRequest.HeaderField] = []
    var withheld: [Withheld] = []
    var held = isKnown ? [] : parts(sensitive.url, "the URL") + parts(sensitive.body, "the body")
    let isHeldBeyondHeaders = !held.isEmpty
    for field in request.headers {
      guard let sensitivity = field.sensitivity,
        !sensitive.known.knows(origin, for: sensitivity.owner)
      else {
        headers.append(field)
        continue
      }
      if sensitivity.owner == .request, request.redirects.acrossOrigins == .refuse {
        held.append(text(of: field))
      } else {
        withheld.append(
          Withheld(
            text: text(of: field), owner: sensitivity.owner, origin: origin,
            isInQuery: field.role == .queryToken))
      }
    }
    guard !held.isEmpty else { return .send(headers, withheld: withheld) }
    return .refuse(
      "the request was not sent to \(origin): this origin is named by a response but not by the manifest, and the request "
        + "contains \(list(held)); to send it there, \(remedy(canStrip: !isHeldBeyondHeaders))")
  }

  // MARK: Redirects

  /// Determines which parts of a hop may follow a redirect to a different origin.
  static func admit(
    _ hop: RedirectPolicy.Hop, _ sensitive: SensitiveParts, _ rules: TransferRequest.AcrossOrigins,
    hasUserinfo: Bool, from: Origin, to: Origin
  ) -> Admission {
    let headers = hop.headers.filter { $0.name.lowercased() != "host" }
    guard rules != .follow else { return .send(headers, withheld: []) }
    let isDowngrade = from.scheme == "https" && to.scheme == "http"
    var fixed = parts(sensitive.urlBeginning + sensitive.url, "the URL")
    if hop.hasBody { fixed += parts(sensitive.body, "the body") }
    var kept: [TransferRequest.HeaderField] = []
    var dropped: [TransferRequest.HeaderField] = []
    for field in headers {
      let owner = owner(of: field)
      // The request's own fields belong to the origin to which the manifest sends them.
      let mayCross =
        owner.map { $0 != .request && !isDowngrade && sensitive.known.knows(to, for: $0) } ?? true
      if mayCross { kept.append(field) } else { dropped.append(field) }
    }
    let userinfo = hasUserinfo ? ["the URL's user name and password"] : []
    let held = fixed + userinfo + dropped.map(text)
    guard !held.isEmpty else { return .send(kept, withheld: []) }
    if rules == .strip, fixed.isEmpty, !isDowngrade {
      let withheld = dropped.map {
        Withheld(
          text: text(of: $0), owner: owner(of: $0) ?? .request, origin: to,
          isInQuery: $0.role == .queryToken)
      }
      return .send(
        kept, withheld: withheld + userinfo.map { Withheld(text: $0, owner: .request, origin: to) })
    }
    var help = remedy(canStrip: fixed.isEmpty && !isDowngrade)
    if !isDowngrade, held.count == 1, dropped.first.flatMap(owner) == .token {
      help += " or \(tokenRemedy(to))"
    }
    let what = isDowngrade ? "the redirect from https to \(to)" : "the redirect to \(to)"
    return .refuse(
      "\(what) was not followed, because the request contains \(list(held)); to follow it, \(help)")
  }

  /// The owner of a field that must stay with its origin; `nil` for a field that may be sent to any origin.
  private static func owner(of field: TransferRequest.HeaderField) -> TransferRequest.HeaderField.Owner? {
    if let sensitivity = field.sensitivity { return sensitivity.owner }
    switch field.name.lowercased() {
    case "authorization", "cookie", "proxy-authorization", "x-api-key": return .request
    default: return nil
    }
  }

  // MARK: Client certificates

  /// Whether the session's client certificate is presented at a URL. Like the session's sensitive header fields, it
  /// belongs to the origins of the session's URLs in the manifest.
  static func mayIdentify(_ request: TransferRequest, at url: String) -> Bool {
    guard request.connection.tls.identity != nil else { return false }
    if request.redirects.acrossOrigins == .follow { return true }
    guard let origin = CurlURL(url)?.origin else { return false }
    if request.sensitive.known.session.contains(origin) { return true }
    return !request.sensitive.isURLCaptured && origin == CurlURL(request.url)?.origin
  }

  // MARK: Messages

  /// A possible reason for a 401 or 403 response from an origin: the fields that were withheld from it or at an earlier
  /// hop, and the setting that would allow them.
  static func explanation(_ withheld: [Withheld], at last: Origin?) -> String? {
    guard let first = withheld.first else { return nil }
    let origin = first.origin
    let help =
      switch first.owner {
      case .token: tokenRemedy(origin)
      case .session:
        "use a URL with this origin in the session, or set 'redirects: { across_origins: follow }' on the session"
      case .request: "set 'redirects: { across_origins: follow }' on the session"
      }
    let part = first.isInQuery ? "token" : "header"
    let fields = list(withheld.filter { $0.origin == origin }.map(\.text))
    let reason =
      origin == last
      ? "ferry did not send \(fields) to \(origin), because the manifest does not name this origin for the \(part)"
      : "ferry omitted \(fields) when a redirect led to \(origin), because the manifest does not name this origin for the \(part)"
    return "\(reason); to send it, \(help)"
  }

  private static func tokenRemedy(_ origin: Origin) -> String {
    "add 'origins: [\"\(origin)\"]' to the token's 'apply'"
  }

  private static func remedy(canStrip: Bool) -> String {
    canStrip
      ? "set 'redirects: { across_origins: strip }' on the session, which omits the header, or 'follow'"
      : "set 'redirects: { across_origins: follow }' on the session"
  }

  private static func parts(_ names: [String], _ place: String) -> [String] {
    names.map { "\($0) in \(place)" }
  }

  private static func text(of field: TransferRequest.HeaderField) -> String {
    let values = field.sensitivity?.values ?? []
    if field.role == .queryToken { return list(values) }
    return values.isEmpty ? "the header \(field.name)" : "\(list(values)) in the header \(field.name)"
  }

  private static func list(_ texts: [String]) -> String { texts.joined(separator: ", ") }
}

extension KnownOrigins {
  fileprivate func knows(_ origin: Origin, for owner: TransferRequest.HeaderField.Owner) -> Bool {
    switch owner {
    case .request: request.contains(origin)
    case .session: session.contains(origin)
    case .token: token.contains(origin)
    }
  }
}

extension TransferRequest.Body {
  var isSent: Bool {
    switch self {
    case .none: false
    case .bytes, .file, .form: true
    }
  }
}
