/// Reads a manifest: text in, a typed manifest or all that is wrong with it out.
///
/// Pure: it looks at no disk and at no environment but the one it is given.
package struct ManifestReader: Sendable {
  private let environment: [String: String]
  private let variables: [String: String]

  /// - Parameters:
  ///   - environment: what `${env.NAME}` stands for.
  ///   - variables: `--var NAME=VALUE`, which win over the manifest's `vars`.
  package init(environment: [String: String], variables: [String: String] = [:]) {
    self.environment = environment
    self.variables = variables
  }

  /// - Parameter file: the path as the user gave it, for messages.
  package func read(_ bytes: [UInt8], file: String) -> ManifestReading {
    let source = SourceText(bytes, file: file)
    let document = YAMLDocument(source)
    guard let root = document.root else {
      return ManifestReading(manifest: nil, diagnostics: document.diagnostics.sorted(), environment: [])
    }
    var decoder = ManifestDecoder(
      source, profile: Self.profile(of: root),
      variables: Variables(environment: environment, overrides: variables))
    excuseMisspeltSections(root, &decoder)
    let read = ManifestDocument.shape(file: file).decode(root, &decoder)
    reportUnknownVariables(root, &decoder)
    decoder.checkNames()
    decoder.checkReferences()
    decoder.checkCycles()
    decoder.checkWarnings(read?.manifest, after: document.diagnostics)

    let diagnostics = (document.diagnostics + decoder.diagnostics).sorted()
    let isSound = diagnostics.allSatisfy { $0.severity != .error }
    return ManifestReading(
      manifest: isSound ? read?.manifest : nil, diagnostics: diagnostics,
      environment: decoder.variables.environmentUses.sorted { $0.location < $1.location })
  }

  /// Known before anything else is read, since defaults follow from it; what is wrong with it is told in its turn.
  private static func profile(of root: YAMLNode) -> Profile {
    root["profile"]?.scalar.flatMap { Profile(rawValue: $0.text) } ?? .server
  }

  /// What stands under a misspelt `sesions:` is declared in spirit: only the key is told, not each use of a name.
  private func excuseMisspeltSections(_ root: YAMLNode, _ decoder: inout ManifestDecoder) {
    let sections = DeclaredNames.Space.allCases.map(\.rawValue) + ["vars"]
    for key in (root.members ?? []).map(\.key.value) where !sections.contains(key) {
      guard let nearest = NearestName.nearest(to: key, among: sections) else { continue }
      if let space = DeclaredNames.Space(rawValue: nearest) {
        decoder.declared.markUnreadable(space)
      } else {
        decoder.variables.written = nil
      }
    }
  }

  private func reportUnknownVariables(_ root: YAMLNode, _ decoder: inout ManifestDecoder) {
    guard let written = decoder.variables.written else { return }
    let place = root.members?.first { $0.key.value == "vars" }?.key.location ?? decoder.start
    for name in variables.keys.sorted() where written[name] == nil {
      decoder.report(
        .undeclaredVariable, at: place, "--var \(name.clipped): the manifest has no variable of this name",
        help: decoder.suggestion(for: name, among: written.keys.sorted())
          ?? (written.isEmpty ? "it has no 'vars'" : "it has \(written.keys.sorted().alternatives())"))
    }
  }
}

extension Sequence<Diagnostic> {
  /// By place; those of one place in the order in which they were found.
  fileprivate func sorted() -> [Diagnostic] {
    enumerated().sorted { a, b in
      a.element.location == b.element.location
        ? a.offset < b.offset : a.element.location < b.element.location
    }
    .map(\.element)
  }
}
