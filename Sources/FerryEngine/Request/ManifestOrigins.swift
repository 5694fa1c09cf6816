import FerryManifest
import FerryPlan
import FerryTransfer

/// The origins that one manifest names, grouped by the values that may be sent to them. Responses cannot add
/// origins: a URL that begins with a capture, or takes its host from one, is ignored here.
struct ManifestOrigins {
  private var sessions: [OriginSet]
  /// The origins of each token, by the token's node.
  private var tokens: [Int: OriginSet] = [:]
  /// The origins of each node's own steps, by node.
  private var nodes: [OriginSet] = []
  /// The user names and passwords in the URLs of each node's own steps, by node. Another node may have an account of its
  /// own at the same origin, or none.
  private var userinfo: [[Origin: Userinfo]] = []
  private let secrets: [String: SensitiveValue]

  /// - Parameter plan: the plan of one manifest.
  init(_ plan: Plan, secrets: [String: SensitiveValue]) {
    self.secrets = secrets
    sessions = plan.sessions.map { _ in OriginSet() }
    for (index, node) in plan.nodes.enumerated() {
      if case .token(let work) = node.work { tokens[index] = OriginSet(patterns: work.applyOrigins) }
    }
    for (index, node) in plan.nodes.enumerated() {
      var own = OriginSet()
      var accounts: [Origin: Userinfo] = [:]
      for step in node.steps {
        guard let (origin, userinfo) = origin(of: step) else { continue }
        if let userinfo, accounts[origin] == nil { accounts[origin] = userinfo }
        own.origins.insert(origin)
        sessions[step.session.index].origins.insert(origin)
        if let token = step.token { tokens[token.index]?.origins.insert(origin) }
        if step.kind == .token { tokens[index]?.origins.insert(origin) }
      }
      if case .upload(let work) = node.work {
        for origin in work.writtenOrigins {
          own.origins.insert(origin)
          sessions[work.transfer.session.index].origins.insert(origin)
          if let token = work.transfer.token { tokens[token.index]?.origins.insert(origin) }
        }
      }
      nodes.append(own)
      userinfo.append(accounts)
    }
  }

  /// The origins to which the manifest sends the values in the step's requests.
  func known(to step: Step, of node: Int) -> KnownOrigins {
    var request = sessions[step.session.index]
    request.formUnion(nodes[node])
    return KnownOrigins(
      request: request, session: sessions[step.session.index],
      token: step.token.flatMap { tokens[$0.index] } ?? OriginSet(), userinfo: userinfo[node])
  }

  /// Whether a response determines the origin of the step's request.
  func isCaptured(_ step: Step) -> Bool { origin(of: step) == nil }

  /// The origin of the step's URL with the values of secrets inserted, because secrets, like `vars` and `env`, come
  /// from the manifest's author.
  private func origin(of step: Step) -> (Origin, Userinfo?)? {
    let segments = step.request.url.segments.map { segment -> Template.Segment in
      guard case .reference(.secret(let name), let filters) = segment, let secret = secrets[name] else {
        return segment
      }
      // Secrets and the results of all filters are UTF-8.
      guard let value = try? filters.apply(to: Array(secret.revealed.utf8)) else { return segment }
      return .value(String(decoding: value, as: UTF8.self))
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

extension UploadWork {
  /// The servers of the items that are written in the manifest.
  fileprivate var writtenOrigins: Set<Origin> {
    guard case .items(let items) = files.source, case .written(let written) = items.source,
      items.url == DownloadItems.field(.url)
    else { return [] }
    return Set(written.compactMap { Origin(url: $0.url) })
  }
}

extension Template.Segment {
  /// The text of a segment; empty for a reference.
  fileprivate var text: String {
    switch self {
    case .literal(let text), .value(let text): text
    case .reference: ""
    }
  }
}
