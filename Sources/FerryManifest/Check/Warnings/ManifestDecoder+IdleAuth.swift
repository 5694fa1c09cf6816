extension ManifestDecoder {
  /// F0716.
  mutating func warnOfIdleAuth(_ manifest: Manifest) {
    let authenticated = Set(manifest.sessions.filter { $0.auth != nil }.map(\.name.value))
    for session in declared.ordered[.sessions] ?? [] {
      warnOfIdlePreemption(session.node["auth"], use: session.node.use)
    }
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) {
      // The credentials of a probe are written in its commit.
      guard let auth = request.auth, reported.insert(auth.location).inserted else { continue }
      warnOfIdlePreemption(auth, use: request.use)
      guard request.template.auth == .off, !authenticated.contains(request.session) else { continue }
      warn(
        .idleAuth, at: auth.location,
        "this has no effect: the session \(request.session.quoted) has no 'auth'", help: "remove it",
        use: auth.use ?? request.use)
    }
  }

  private mutating func warnOfIdlePreemption(_ auth: YAMLNode?, use: SourceLocation?) {
    guard let scheme = auth?["scheme"]?.scalar?.text, scheme != "basic", scheme != "any",
      let preemptive = auth?["preemptive"], preemptive.scalar?.text == "true"
    else { return }
    warn(
      .idleAuth, at: preemptive.location, "this has no effect: it applies only to Basic credentials",
      help: "remove it", use: auth?.use ?? use)
  }
}
