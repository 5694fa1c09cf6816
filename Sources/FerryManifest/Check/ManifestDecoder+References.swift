extension ManifestDecoder {
  /// Checks that every reference refers to a declared name that has a value at that place.
  mutating func checkReferences() {
    var tokens: [GraphVertex: String] = [:]
    for use in nameUses where use.purpose == .token {
      if let vertex = use.place.vertex { tokens[vertex] = use.name.value }
    }
    var known = KnownCaptures(tokenOfNode: tokens)
    for use in referenceUses { check(use, &known) }
  }

  private mutating func check(_ use: ReferenceUse, _ known: inout KnownCaptures) {
    switch use.reference.value {
    case .file, .run:
      return
    case .item(let field):
      checkItemField(field, use)
    case .secret(let name):
      guard declared.unreadable.isDisjoint(with: [.secrets]), declared.declaration(name, in: .secrets) == nil
      else { return }
      report(
        .unknownSecret, at: use.reference.location, "unknown secret \(name.quoted)",
        help: suggestion(for: name, among: declared.names(in: .secrets)) ?? "declare it under 'secrets:'")
    case .token(let capture):
      checkToken(capture, use, &known)
    case .allocate(let capture):
      checkStep("allocate", capture, use, &known)
    case .transfer(let capture):
      checkStep("transfer", capture, use, &known)
    case .request(let name, let capture):
      guard let request = declared.declaration(name, in: .requests) else {
        guard !declared.unreadable.contains(.requests) else { return }
        report(
          .unknownRequest, at: use.reference.location, "unknown request \(name.quoted)",
          help: other(than: [.requests], called: name).map {
            "it is \($0); references can only name single requests"
          }
            ?? suggestion(for: name, among: declared.names(in: .requests)) ?? "declare it under 'requests:'")
        return
      }
      checkCapture(
        capture, in: known.captures(.request(name)) { captures(of: request.node) },
        of: "request \(name.quoted)", use)
    }
  }

  private mutating func checkToken(_ capture: String, _ use: ReferenceUse, _ known: inout KnownCaptures) {
    let name: String
    switch use.place {
    case .apply(let own):
      name = own
    case .constant, .session, .defaults, .token, .upload, .download, .fetch, .request, .onEnd:
      guard let node = use.place.vertex, !node.isToken else { return }
      guard let token = known.tokenOfNode[node] else {
        guard case .missing = known.captures(.tokenOf(node: node), find: { isTokenMissing(of: node) }) else {
          return
        }
        report(
          .nodeWithoutToken, at: use.reference.location,
          "\(EachInstance.base(of: node.name).quoted) does not name a token, so '${token.…}' has no value",
          help:
            "add 'token: \(declared.names(in: .tokens).first ?? "NAME")' to \(EachInstance.base(of: node.name).quoted)"
        )
        return
      }
      name = token
    }
    guard let token = declared.declaration(name, in: .tokens) else { return }
    checkCapture(
      capture, in: known.captures(.token(name)) { captures(of: token.node) }, of: "token \(name.quoted)",
      use)
  }

  /// The captures of the token of a node for which no token was found: `missing` if the node names no token;
  /// `unknown` if a misspelled key may have been meant as `token`.
  private func isTokenMissing(of node: GraphVertex) -> Captures {
    let spaces = if case .onEnd = node { [DeclaredNames.Space.onEnd] } else { DeclaredNames.nodeSpaces }
    let hasToken = spaces.contains { space in
      declared.declaration(node.name, in: space).map { isMisspelt("token", in: $0.node) } == true
    }
    return hasToken ? .unknown : .missing
  }

  private mutating func checkStep(
    _ step: String, _ capture: String, _ use: ReferenceUse, _ known: inout KnownCaptures
  ) {
    guard case .upload(let name, _) = use.place, let upload = declared.declaration(name, in: .uploads) else {
      return
    }
    let found = known.captures(.step(step, of: name)) {
      guard upload.node.members != nil else { return .unknown }
      if let node = upload.node[step] { return captures(of: node) }
      return isMisspelt(step, in: upload.node) || upload.node.isIncomplete ? .unknown : .missing
    }
    guard case .missing = found else {
      return checkCapture(capture, in: found, of: "the '\(step)' step", use)
    }
    report(
      .missingStep, at: use.reference.location,
      "\(EachInstance.base(of: name).quoted) has no '\(step)' step",
      help: "add '\(step):' with 'capture', or remove the reference")
  }

  private mutating func checkCapture(
    _ name: String, in captures: Captures, of step: String, _ use: ReferenceUse
  ) {
    guard case .names(let names, let all) = captures, !all.contains(name) else { return }
    report(
      .unknownCapture, at: use.reference.location, "\(step) does not capture \(name.quoted)",
      help: suggestion(for: name, among: names)
        ?? (names.isEmpty
          ? "add 'capture: { \(name.clipped): { … } }' to \(step)" : "use \(names.alternatives())"))
  }

  /// Returns the names of the values that a step captures.
  ///
  /// - Parameter node: the step with the captures, as written.
  private func captures(of node: YAMLNode) -> Captures {
    // A misspelled key, and a step or capture that is not a mapping, have already been reported.
    guard node.members != nil, !node.isIncomplete else { return .unknown }
    let own = node["oauth2"] == nil ? [] : OAuth2Grant.captures.map(\.name)
    guard let written = node["capture"] else {
      return isMisspelt("capture", in: node) ? .unknown : .names(own, Set(own))
    }
    guard let names = written.members?.map(\.key.value) else { return .unknown }
    return .names(own + names, Set(own + names))
  }
}

/// The captures of a step.
private enum Captures {
  /// The names in the order of the text.
  case names([String], Set<String>)
  /// The step does not exist.
  case missing
  /// A mistake in the step has already been reported.
  case unknown
}

/// Caches the captures of steps. Each step is looked up only once, because hostile text could have thousands
/// of steps and references.
private struct KnownCaptures {
  enum Step: Hashable {
    case token(String)
    case tokenOf(node: GraphVertex)
    case request(String)
    case step(String, of: String)
  }

  let tokenOfNode: [GraphVertex: String]
  private var bySteps: [Step: Captures] = [:]

  init(tokenOfNode: [GraphVertex: String]) { self.tokenOfNode = tokenOfNode }

  mutating func captures(_ step: Step, find: () -> Captures) -> Captures {
    if let known = bySteps[step] { return known }
    let found = find()
    bySteps[step] = found
    return found
  }
}
