import FerryDigest
import FerryManifest
import FerryPlan

/// The beginning of a step's URL, if captures of tokens or requests determine the server of the step.
struct ServerBase {
  let step: Step.Kind
  let builder: RequestBuilder
  /// Whether one of these captures is secret.
  private let isSecret: Bool

  /// Returns `nil` if the manifest or the item's own captures determine the server.
  ///
  /// - Parameter plan: the step's plan.
  init?(_ step: Step, in plan: Plan) {
    guard let base = step.capturedBase else { return nil }
    self.step = step.kind
    builder = RequestBuilder(RequestTemplate(url: base))
    isSecret = base.references.contains { plan.isSecret($0, step) }
  }

  /// The server of a URL, as it is compared and stored.
  ///
  /// - Parameter masked: returns a string without secrets.
  func server(of url: String, masked: (String) -> String) -> String {
    let server = Origin(url: url)?.description
    if let server, !isSecret, masked(server) == server { return server }
    let text = server ?? URLPart.authority(of: url).map(String.init) ?? url
    return BoundServers.hidden + Hexadecimal.text(SHA256.hash(text.utf8).prefix(16))
  }
}

extension Step {
  /// The part of the step's URL that determines the server, if it contains captures of tokens or requests; otherwise
  /// `nil`.
  fileprivate var capturedBase: Template? {
    guard origin == nil else { return nil }
    var base: [Template.Segment] = []
    var references: [Reference] = []
    for segment in request.url.segments {
      base.append(segment)
      switch segment {
      case .reference(let reference, filters: _): references.append(reference)
      case .literal(let text), .value(let text):
        guard references.isEmpty || !text.utf8.contains(where: { "/?#".utf8.contains($0) }) else {
          return references.contains(where: \.isOfNode) ? Template(base) : nil
        }
      }
    }
    return references.contains(where: \.isOfNode) ? Template(base) : nil
  }
}

extension Reference {
  /// Whether this is a capture of a token or a request, whose value may change while an item is open.
  fileprivate var isOfNode: Bool {
    switch self {
    case .token, .request: true
    case .secret, .file, .item, .allocate, .transfer, .run: false
    }
  }
}

extension Plan {
  fileprivate func isSecret(_ reference: Reference, _ step: Step) -> Bool {
    switch reference {
    case .secret: return true
    case .token(let name):
      guard let token = step.token else { return false }
      return isSecret(name, of: nodes[token.index])
    case .request(let request, let name):
      return nodes.contains { $0.kind == .request && $0.name == request && isSecret(name, of: $0) }
    case .file, .item, .allocate, .transfer, .run: return false
    }
  }

  private func isSecret(_ capture: String, of node: Node) -> Bool {
    node.steps.contains { step in step.capture.contains { $0.name == capture && $0.isSecret } }
  }
}
