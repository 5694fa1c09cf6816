extension ManifestDecoder {
  /// F0706. Warns of tokens and secrets that are sent without TLS. Requests that take the beginning of their
  /// URL from the same variable or `for_each` value cause only one warning.
  mutating func warnOfTokensWithoutTLS(_ manifest: Manifest) {
    let secretSessions = Set(
      manifest.sessions.filter {
        $0.auth?.hasNetrc == true
          || ($0.headers.map(\.value) + ($0.auth?.templates ?? [])).contains {
            $0.references.contains(where: \.isConfidential)
          }
      }
      .map(\.name.value))
    var reportedPlaces: Set<SourceLocation> = []
    var known = WrittenReferences()
    for request in writtenRequests(manifest) {
      guard let host = request.template.url.plainHTTPHost, !LoopbackHost.contains(host),
        let url = request.url
      else { continue }
      let what: String
      if let token = request.token {
        what = "token \(token.quoted)"
      } else if request.template.references.contains(where: \.isConfidential)
        || request.template.auth?.hasNetrc == true
        || secretSessions.contains(request.session)
      {
        what = "a secret"
      } else {
        continue
      }
      known.instance = request.instance
      let place = writtenText(url, &known).places.first ?? url.location
      guard reportedPlaces.insert(place).inserted else { continue }
      warn(
        .tokenWithoutTLS, at: place, "\(what) is sent to \(host.quoted) without TLS",
        help: "use https://; anyone on the network path can read and reuse data sent over http://",
        notes: place == url.location ? [] : [.init("sent with this request", at: url.location)],
        use: url.use ?? request.use)
    }
  }
}

extension Reference {
  fileprivate var isConfidential: Bool {
    switch self {
    case .secret, .token: true
    case .file, .item, .allocate, .transfer, .request, .run: false
    }
  }
}

extension Template {
  /// The host of an `http://` URL, if it is known before a run.
  fileprivate var plainHTTPHost: String? {
    var prefix = ""
    var isWhole = true
    loop: for segment in segments {
      switch segment {
      case .literal(let text), .value(let text): prefix += text
      case .reference:
        isWhole = false
        break loop
      }
    }
    guard prefix.prefix(7).lowercased() == "http://" else { return nil }
    let rest = prefix.dropFirst(7)
    let end = rest.firstIndex { "/?#\\".contains($0) }
    // If a reference continues the host name, the host is unknown.
    guard isWhole || end != nil else { return nil }
    let authority = rest[..<(end ?? rest.endIndex)]
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
    if host.hasPrefix("["), let bracket = host.firstIndex(of: "]") { return String(host[...bracket]) }
    return String(host.prefix { $0 != ":" })
  }
}
