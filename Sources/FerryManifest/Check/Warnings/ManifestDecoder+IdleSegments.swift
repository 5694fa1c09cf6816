/// Downloads that cannot use the connections that `segments` allows.
extension ManifestDecoder {
  /// F0713. `segments` of downloads whose requests cannot ask for ranges, or whose session has fewer connections.
  mutating func warnOfIdleSegments(_ manifest: Manifest) {
    for download in manifest.downloads where download.segments > 1 {
      warn(
        segments: download.segments, of: download.name.value, in: .downloads, session: download.session.value,
        download.itemRequest, download.expect, manifest)
    }
    for fetch in manifest.fetches where fetch.segments > 1 {
      warn(
        segments: fetch.segments, of: fetch.name.value, in: .fetches, session: fetch.session.value,
        fetch.request, fetch.expect, manifest)
    }
  }

  private mutating func warn(
    segments: Int, of name: String, in section: DeclaredNames.Space, session: String,
    _ request: RequestTemplate, _ expect: Expectation, _ manifest: Manifest
  ) {
    guard let node = declared.declaration(name, in: section)?.node, let key = node["segments"] else { return }
    if let reason = request.reasonAgainstRanges(expect) {
      warn(
        .partSettings, at: key.location, "this has no effect, because \(reason)", help: "remove it",
        use: key.use ?? node.use)
    } else if let session = manifest.sessions.first(where: { $0.name.value == session }),
      session.maxConnectionsPerHost < segments
    {
      warn(
        .partSettings, at: key.location,
        "the session allows only \(session.maxConnectionsPerHost) connections to a host",
        help:
          "increase 'max_connections_per_host' of the session, or write 'segments: \(session.maxConnectionsPerHost)'",
        use: key.use ?? node.use)
    }
  }
}

extension RequestTemplate {
  /// The header fields that ferry itself sets in a request for a range (RFC 9110, sections 13.1 and 14.2).
  private static let rangeFields = [
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
  ]

  /// The reason why the response to this request is never requested in ranges; `nil` if it may be.
  fileprivate func reasonAgainstRanges(_ expect: Expectation) -> String? {
    if method != "GET" { return "only a GET can request a range" }
    if let field = headers.first(where: { Self.rangeFields.contains($0.name.lowercased()) }) {
      return "the request has the header field '\(field.name)'"
    }
    if !expect.headers.isEmpty {
      return "'expect: { header: … }' is checked in a response with the whole file"
    }
    if let header = checksum?.header, !header.coversWholeDocument {
      return "'checksum: { header: \(header.rawValue) }' describes a response with the whole file"
    }
    return nil
  }
}
