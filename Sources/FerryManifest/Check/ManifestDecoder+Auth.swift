extension ManifestDecoder {
  /// F0329.
  mutating func checkAuth(_ manifest: Manifest) {
    let sessions = Dictionary(
      manifest.sessions.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) {
      let declared = sessions[request.session]
      guard case .credentials = request.template.auth ?? declared?.auth else { continue }
      let session = self.declared.declaration(request.session, in: .sessions)?.node
      for headers in [request.node["headers"], session?["headers"]] {
        for header in headers?.members ?? [] where header.key.value.lowercased() == "authorization" {
          reportAuthenticated(
            header.key.location, &reported, "the header \(header.key.value.quoted) is set by 'auth'")
        }
      }
      if let header = request.token.flatMap({ tokenHeader(of: $0, manifest) }),
        header.value.lowercased() == "authorization"
      {
        reportAuthenticated(
          header.location, &reported, "the header \(header.value.quoted) is set by 'auth'")
      }
      if case .awsV4 = request.template.sign ?? declared?.sign {
        reportAuthenticated(request.node.location, &reported, "a signed request cannot have 'auth'")
      }
    }
  }

  /// The header field that a token sets on requests, with the location that determines it; `nil` if it sets none.
  func tokenHeader(of name: String, _ manifest: Manifest) -> Located<String>? {
    guard let token = manifest.tokens.first(where: { $0.name.value == name }), let header = token.apply.header
    else { return nil }
    let apply = declared.declaration(name, in: .tokens)?.node["apply"]
    let written = apply?["header"] ?? apply?["cookie"] ?? apply
    return Located(header, at: written?.location ?? token.name.location)
  }

  private mutating func reportAuthenticated(
    _ location: SourceLocation, _ reported: inout Set<SourceLocation>, _ message: String
  ) {
    guard reported.insert(location).inserted else { return }
    report(
      .authenticatedRequest, at: location, message,
      help: "remove one of the two, or write 'auth: none' next to the request")
  }
}
