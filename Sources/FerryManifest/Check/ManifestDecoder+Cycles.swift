extension ManifestDecoder {
  /// The dependencies between steps, from `needs` and from references.
  var dependencies: DependencyGraph {
    var graph = DependencyGraph()
    for space in DeclaredNames.nodeSpaces {
      for node in declared.ordered[space] ?? [] {
        graph.add(.node(node.name.value))
        for instance in declared.instances(of: node.name.value) { graph.add(.node(instance)) }
        for instance in declared.instances(of: node.name.value) {
          graph.connect(.node(node.name.value), to: .node(instance), at: node.name.location)
        }
      }
    }
    for token in declared.ordered[.tokens] ?? [] { graph.add(.token(token.name.value)) }
    for use in nameUses {
      guard let from = use.place.vertex else { continue }
      switch use.purpose {
      case .session: break
      case .token: graph.connect(from, to: .token(use.name.value), at: use.name.location)
      case .needs, .fetch: graph.connect(from, to: .node(use.name.value), at: use.name.location)
      }
    }
    for use in referenceUses {
      guard case .request(let name, _) = use.reference.value, let from = use.place.vertex else { continue }
      graph.connect(from, to: .node(name), at: use.reference.location)
    }
    return graph
  }

  /// Reports steps that wait for themselves.
  mutating func checkCycles() {
    for cycle in dependencies.cycles() {
      guard let first = cycle.first else { continue }
      guard first.to != first.from else {
        report(
          .cycle, at: first.location, "\(first.from.name.quoted) waits for itself",
          help: "remove this name or reference; the step could never start")
        continue
      }
      let path = (cycle.map(\.from) + [first.from]).map(\.name.clipped).joined(separator: " → ")
      report(
        .cycle, at: first.location, "dependency cycle: \(path)",
        help: "remove one of these names from 'needs', or one of the references",
        notes: cycle.dropFirst().map {
          .init("\($0.from.name.quoted) waits for \($0.to.name.quoted) here", at: $0.location)
        })
    }
  }
}
