extension ManifestDecoder {
  /// F0712. Warns of `repeatable` in requests with an idempotent method, which are repeatable without the
  /// key.
  mutating func warnOfIdleRepeatable(_ manifest: Manifest) {
    let requests =
      manifest.requests.map { ($0, DeclaredNames.Space.requests) }
      + manifest.onEnd.map { ($0.request, DeclaredNames.Space.onEnd) }
    for (request, section) in requests where request.isRepeatable && request.request.isIdempotent {
      guard let node = declared.declaration(request.name.value, in: section)?.node,
        let key = node["repeatable"]
      else { continue }
      warn(
        .idleRepeatable, at: key.location,
        "this has no effect: a request with the method \(request.request.method) is always repeatable",
        help: "remove it", use: key.use ?? node.use)
    }
    warnOfIdleStatuses(manifest)
  }

  /// F0712. Warns of `retry: { not_executed }` of nodes that send only requests that may always be repeated.
  private mutating func warnOfIdleStatuses(_ manifest: Manifest) {
    let nodes: [(name: String, section: DeclaredNames.Space, isIdle: Bool)] =
      manifest.tokens.map { ($0.name.value, .tokens, true) }
      + manifest.downloads.map { ($0.name.value, .downloads, true) }
      + manifest.fetches.map { ($0.name.value, .fetches, $0.request.isIdempotent) }
      + manifest.requests.map { ($0.name.value, .requests, $0.isRepeated) }
      + manifest.onEnd.map { ($0.request.name.value, .onEnd, $0.request.isRepeated) }
      + manifest.uploads.map { ($0.name.value, .uploads, $0.commit == nil && $0.transfer.isRepeated) }
    for node in nodes where node.isIdle {
      guard let written = declared.declaration(node.name, in: node.section)?.node,
        let key = written["retry"]?["not_executed"]
      else { continue }
      warn(
        .idleRepeatable, at: key.location,
        "this has no effect: all requests of \(node.name.quoted) may be repeated, whatever the status",
        help: "remove it",
        use: key.use ?? written.use)
    }
  }
}

extension Upload.Transfer {
  /// Whether an unclear outcome never prevents another attempt.
  fileprivate var isRepeated: Bool {
    switch `protocol` {
    case .contentRange, .tus, .s3Multipart: true
    case .put, .post, .multipartForm, .resumable: request.isIdempotent
    }
  }
}
