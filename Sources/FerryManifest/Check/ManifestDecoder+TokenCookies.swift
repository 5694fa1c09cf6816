extension ManifestDecoder {
  /// F0320. Reports the header field `Cookie` in requests whose token is a cookie, because a request has only
  /// one `Cookie` field.
  mutating func checkTokenCookies(_ manifest: Manifest) {
    let cookies = Dictionary(
      manifest.tokens.compactMap { token -> (String, String)? in
        if case .cookie(let cookie) = token.apply.target { (token.name.value, cookie) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
    guard !cookies.isEmpty else { return }
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) {
      guard let token = request.token, let cookie = cookies[token] else { continue }
      let session = declared.declaration(request.session, in: .sessions)?.node
      for headers in [request.node["headers"], session?["headers"]] {
        for header in headers?.members ?? []
        where header.key.value.lowercased() == "cookie" && reported.insert(header.key.location).inserted {
          report(
            .duplicateHeader, at: header.key.location,
            "the header 'Cookie' is set by the token \(token.quoted)",
            help: "remove it, or write both cookies in 'apply': "
              + "'apply: { header: Cookie, value: \"NAME=VALUE; \(cookie.clipped)=${token.…}\" }'")
        }
      }
    }
  }
}
