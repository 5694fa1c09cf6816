extension ManifestDecoder {
  /// Checks that every session, token and node that the manifest refers to is declared, and that each node
  /// is declared only once.
  mutating func checkNames() {
    for use in nameUses {
      let (code, spaces, what, section): (DiagnosticCode, [DeclaredNames.Space], String, String) =
        switch use.purpose {
        case .session: (.unknownSession, [.sessions], "session", "sessions:")
        case .token: (.unknownToken, [.tokens], "token", "tokens:")
        case .needs:
          (
            .unknownNode, DeclaredNames.nodeSpaces, "node",
            "uploads:', 'downloads:', 'fetches:' or 'requests:"
          )
        case .fetch: (.unknownNode, [.fetches], "fetch", "fetches:")
        }
      let name = use.name.value
      if use.purpose == .fetch, declared.hasInstances(name) {
        report(
          code, at: use.name.location, "\(name.quoted) has 'for_each', and a list is the file of one fetch",
          help: declared.instances(of: name).first.map { "name one of its instances, such as \($0.quoted)" }
            ?? "name a fetch without 'for_each'")
        continue
      }
      guard !spaces.contains(where: { declared.declaration(name, in: $0) != nil }),
        declared.unreadable.isDisjoint(with: spaces)
      else { continue }
      report(
        code, at: use.name.location,
        use.isFromOutside
          ? "unknown \(what); its name comes from outside the manifest and is not shown"
          : "unknown \(what) \(name.quoted)",
        help: use.purpose == .token && name == "none"
          ? "omit 'token'; only a step of an upload can have 'token: none'"
          : instancesHelp(name)
            ?? suggestion(for: name, among: spaces.flatMap { declared.names(in: $0) })
            ?? other(than: spaces, called: name).map {
              "it is \($0); '\(use.purpose.key)' requires a \(what)"
            }
            ?? "declare it under '\(section)'")
    }
    checkSharedNames()
  }

  /// The help for an unknown name such as `photos[xx]`: the existing instances of `photos`.
  private func instancesHelp(_ name: String) -> String? {
    let base = EachInstance.base(of: name)
    guard base != name,
      DeclaredNames.nodeSpaces.contains(where: { declared.declaration(base, in: $0) != nil })
    else { return nil }
    guard declared.hasInstances(base) else {
      return "\(base.quoted) does not have 'for_each'; write the name without brackets"
    }
    let instances = declared.instances(of: base)
    return suggestion(for: name, among: instances)
      ?? (instances.count > 5 || instances.isEmpty ? nil : "use \(instances.alternatives())")
  }

  /// The remedy for a node without a session; nil if the sessions are not known.
  ///
  /// - Parameter example: a name for a session if the manifest has none.
  func missingSessionHelp(example: String) -> String? {
    guard !mayBeIncomplete, !declared.unreadable.contains(.sessions) else { return nil }
    let names = declared.names(in: .sessions)
    switch names.count {
    case 0:
      return "declare a session, for example 'sessions: { \(example): {} }', and add 'session: \(example)'"
    case 1: return "add 'session: \(names[0].clipped)'"
    default: return "add 'session:' with \(names.alternatives())"
    }
  }

  /// Describes a declaration in another namespace that has this name, for a message.
  func other(than spaces: [DeclaredNames.Space], called name: String) -> String? {
    let space = DeclaredNames.Space.allCases.first {
      !spaces.contains($0) && declared.declaration(name, in: $0) != nil
    }
    switch space {
    case .secrets: return "a secret"
    case .sessions: return "a session"
    case .tokens: return "a token"
    case .uploads: return "an upload"
    case .downloads: return "a download batch"
    case .fetches: return "a fetch"
    case .requests: return "a single request"
    case .onEnd: return "a request of 'on_end'"
    case nil: return nil
    }
  }

  /// Checks that each name belongs to only one node, because `needs` uses one namespace.
  private mutating func checkSharedNames() {
    var first: [String: Located<String>] = [:]
    let nodes = DeclaredNames.nodeSpaces.flatMap { declared.ordered[$0] ?? [] }
    for node in nodes.map(\.name).sorted(by: { $0.location < $1.location }) {
      if let other = first[node.value] {
        report(
          .duplicateNode, at: node.location, "another node is already named \(node.value.quoted)",
          help: "uploads, downloads, fetches and requests share one namespace; choose a different name",
          notes: [.init("first defined here", at: other.location)])
      } else {
        first[node.value] = node
      }
    }
  }

  /// Checks that no two sessions have the same journal, because each would wait for the other's lock.
  mutating func checkIdentifiers(_ manifest: Manifest) {
    var first: [String: SourceLocation] = [:]
    for session in manifest.sessions {
      let node = declared.declaration(session.name.value, in: .sessions)?.node
      let place = node?["identifier"]?.location ?? session.name.location
      let identifier = session.identifier ?? "\(manifest.name.value).\(session.name.value)"
      if let other = first[identifier] {
        guard place != other else {
          report(
            .duplicateIdentifier, at: session.name.location,
            "another session already has the identifier \((node?["identifier"]?.scalar?.text ?? identifier).quoted)",
            help: "each session needs a separate journal; give this session another 'identifier'",
            notes: [.init("both sessions use the identifier set here", at: place)])
          continue
        }
        report(
          .duplicateIdentifier, at: place,
          "another session already has the identifier \((node?["identifier"]?.scalar?.text ?? identifier).quoted)",
          help: "each session needs a separate journal; choose a different identifier",
          notes: [.init("first used here", at: other)])
      } else {
        first[identifier] = place
      }
    }
  }
}
