extension ManifestDecoder {
  /// F0714. Warns of `sign: none` on requests of sessions that do not sign requests.
  mutating func warnOfIdleSignatures(_ manifest: Manifest) {
    let signing = Set(manifest.sessions.filter { $0.sign != nil }.map(\.name.value))
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) where request.template.sign == .off {
      // The signature of a probe is written in its commit.
      guard !signing.contains(request.session), let sign = request.sign,
        reported.insert(sign.location).inserted
      else { continue }
      warn(
        .idleSignature, at: sign.location,
        "this has no effect: the session \(request.session.quoted) signs no requests", help: "remove it",
        use: sign.use ?? request.use)
    }
  }
}
