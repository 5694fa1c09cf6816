extension ManifestDecoder {
  /// Checks that everything that is referred to exists where it is referred to.
  mutating func checkReferences() {
    var tokens: [String: String] = [:]
    for use in nameUses where use.purpose == .token {
      if case .node(let name)? = use.place.vertex { tokens[name] = use.name.value }
    }
    for use in referenceUses { check(use, tokenOfNode: tokens) }
  }

  private mutating func check(_ use: ReferenceUse, tokenOfNode: [String: String]) {
    switch use.reference.value {
    case .file, .run:
      return
    case .secret(let name):
      guard declared.unreadable.isDisjoint(with: [.secrets]), declared.declaration(name, in: .secrets) == nil
      else { return }
      report(
        .unknownSecret, at: use.reference.location, "no secret is called \(name.quoted)",
        help: suggestion(for: name, among: declared.names(in: .secrets)) ?? "declare it under 'secrets:'")
    case .token(let capture):
      checkToken(capture, use, tokenOfNode)
    case .allocate(let capture):
      checkStep("allocate", capture, use)
    case .transfer(let capture):
      checkStep("transfer", capture, use)
    case .request(let name, let capture):
      guard let request = declared.declaration(name, in: .requests) else {
        guard !declared.unreadable.contains(.requests) else { return }
        report(
          .unknownRequest, at: use.reference.location, "no request is called \(name.quoted)",
          help: suggestion(for: name, among: declared.names(in: .requests)) ?? "declare it under 'requests:'")
        return
      }
      checkCapture(capture, in: request.node, of: "the request \(name.quoted)", use)
    }
  }

  private mutating func checkToken(_ capture: String, _ use: ReferenceUse, _ tokenOfNode: [String: String]) {
    let name: String
    switch use.place {
    case .apply(let own):
      name = own
    case .constant, .session, .defaults, .token, .upload, .fetch, .request:
      guard case .node(let node)? = use.place.vertex else { return }
      guard let token = tokenOfNode[node] else {
        let hasToken = DeclaredNames.nodeSpaces.contains {
          declared.declaration(node, in: $0)?.node["token"] != nil
        }
        guard !hasToken else { return }
        report(
          .nodeWithoutToken, at: use.reference.location,
          "\(EachInstance.base(of: node).quoted) names no token, so '${token.…}' has no value",
          help:
            "add 'token: \(declared.names(in: .tokens).first ?? "NAME")' to \(EachInstance.base(of: node).quoted)"
        )
        return
      }
      name = token
    }
    guard let token = declared.declaration(name, in: .tokens) else { return }
    checkCapture(capture, in: token.node, of: "the token \(name.quoted)", use)
  }

  private mutating func checkStep(_ step: String, _ capture: String, _ use: ReferenceUse) {
    guard case .upload(let name, _) = use.place, let upload = declared.declaration(name, in: .uploads),
      upload.node.members != nil
    else { return }
    guard let node = upload.node[step] else {
      report(
        .missingStep, at: use.reference.location,
        "\(EachInstance.base(of: name).quoted) has no '\(step)' step",
        help: "add '\(step):' with a 'capture', or remove the reference")
      return
    }
    checkCapture(capture, in: node, of: "the '\(step)' step", use)
  }

  /// - Parameter node: the step that captures, as it is written.
  private mutating func checkCapture(_ name: String, in node: YAMLNode, of step: String, _ use: ReferenceUse)
  {
    // A step or a capture that is no mapping has been told already.
    guard node.members != nil else { return }
    let captures = node["capture"]?.members?.map(\.key.value)
    guard let captures = captures ?? (node["capture"] == nil ? [] : nil), !captures.contains(name) else {
      return
    }
    report(
      .unknownCapture, at: use.reference.location, "\(step) captures no \(name.quoted)",
      help: suggestion(for: name, among: captures)
        ?? (captures.isEmpty
          ? "add 'capture: { \(name.clipped): { … } }' to it" : "it captures \(captures.alternatives())"))
  }
}
