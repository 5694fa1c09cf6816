import FerryManifest

extension Manifest {
  /// A manifest that contains only the requests of `on_end` and their tokens. Its plan is run after the plan
  /// of this manifest, by a separate scheduler.
  ///
  /// These requests do not wait for budgets, or for conditions that only delay work, because they could not be sent
  /// later. Each request has a separate session, so that its time limit is its `grace`.
  ///
  /// - Parameters:
  ///   - limits: the time that remains for each request, by name. Requests without a limit are omitted.
  package func atEnd(limits: [String: Duration]) -> Manifest {
    var manifest = Manifest(file: file, name: name, secrets: secrets)
    manifest.conditions = conditions
    let byName = Dictionary(sessions.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    func use(_ session: Located<String>, for purpose: String, _ limit: Duration) -> Located<String> {
      guard var own = byName[session.value] else { preconditionFailure("the reader resolves sessions") }
      own.name = Located("\(session.value) (\(purpose))", at: session.location)
      own.identifier = "\(name.value) on_end \(own.name.value)"
      own.kind = .default
      own.discretionary = .no
      own.onEvents = []
      own.timeoutForResource = min(own.timeoutForResource, limit)
      manifest.sessions.append(own)
      return own.name
    }
    for var request in onEnd.map(\.request) {
      guard let limit = limits[request.name.value] else { continue }
      request.session = use(request.session, for: "on_end \(request.name.value)", limit)
      request.when = .always
      manifest.requests.append(request)
    }
    let wanted = Set(manifest.requests.compactMap(\.token?.value))
    for var token in tokens where wanted.contains(token.name.value) {
      token.session = use(token.session, for: "token \(token.name.value)", limits.values.max() ?? .zero)
      manifest.tokens.append(token)
    }
    return manifest
  }
}
