import FerryManifest
import FerryPlan
import FerryTransfer

/// The origins that one manifest names, by what may be sent to them. A response names no origin: a URL that begins
/// with a capture, or takes its host from one, adds nothing here.
struct ManifestOrigins {
  private var sessions: [OriginSet]
  /// By node of a token.
  private var tokens: [Int: OriginSet] = [:]
  /// By node: of its own steps.
  private var nodes: [OriginSet] = []
  private var userinfo: [Origin: Userinfo] = [:]
  private let secrets: [String: SensitiveValue]

  /// - Parameter plan: of one manifest.
  init(_ plan: Plan, secrets: [String: SensitiveValue]) {
    self.secrets = secrets
    sessions = plan.sessions.map { _ in OriginSet() }
    for (index, node) in plan.nodes.enumerated() {
      if case .token(let work) = node.work { tokens[index] = OriginSet(patterns: work.applyOrigins) }
    }
    for (index, node) in plan.nodes.enumerated() {
      var own = OriginSet()
      for step in node.steps {
        guard let (origin, userinfo) = origin(of: step) else { continue }
        if let userinfo { self.userinfo[origin] = userinfo }
        own.origins.insert(origin)
        sessions[step.session.index].origins.insert(origin)
        if let token = step.token { tokens[token.index]?.origins.insert(origin) }
        if step.kind == .token { tokens[index]?.origins.insert(origin) }
      }
      nodes.append(own)
    }
  }

  /// Where the manifest sends what the step's requests carry.
  func known(to step: Step, of node: Int) -> KnownOrigins {
    var request = sessions[step.session.index]
    request.formUnion(nodes[node])
    return KnownOrigins(
      request: request, session: sessions[step.session.index],
      token: step.token.flatMap { tokens[$0.index] } ?? OriginSet(), userinfo: userinfo)
  }

  /// Whether a response decides where the step's request goes.
  func isCaptured(_ step: Step) -> Bool { origin(of: step) == nil }

  /// Secrets are the author's own words, as `vars` and `env` are.
  private func origin(of step: Step) -> (Origin, Userinfo?)? {
    let segments = step.request.url.segments.map { segment -> Template.Segment in
      guard case .reference(.secret(let name)) = segment, let secret = secrets[name] else { return segment }
      return .value(secret.revealed)
    }
    guard let origin = Origin(Template(segments)) else { return nil }
    var prefix = ""
    for segment in segments {
      guard case .reference = segment else {
        prefix += segment.text
        continue
      }
      break
    }
    return (origin, Userinfo(url: prefix))
  }
}

extension Template.Segment {
  /// Empty for a reference.
  fileprivate var text: String {
    switch self {
    case .literal(let text), .value(let text): text
    case .reference: ""
    }
  }
}
