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
  }
}
