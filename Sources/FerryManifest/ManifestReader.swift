/// Reads a manifest from its text. The result is a typed manifest, or all of its mistakes.
///
/// The reader accesses only its parameters, not the disk or the environment.
package struct ManifestReader: Sendable {
  private let environment: [String: String]
  private let given: GivenVariables
  private let files: ManifestFiles

  /// - Parameters:
  ///   - environment: the values for `${env.NAME}`.
  ///   - variables: `--var NAME=VALUE`; these take precedence over `variableFiles`.
  ///   - variableFiles: the texts of `--vars-file`; a later one takes precedence. All take precedence over
  ///     the manifest's `vars`.
  ///   - files: reads the includes.
  package init(
    environment: [String: String], variables: [String: String] = [:], variableFiles: [SourceText] = [],
    files: ManifestFiles = .none
  ) {
    self.environment = environment
    given = GivenVariables(variables, files: variableFiles)
    self.files = files
  }

  /// Reads and checks a manifest.
  ///
  /// - Parameter file: the path as the user gave it, for messages.
  package func read(_ bytes: [UInt8], file: String) -> ManifestReading {
    let source = SourceText(bytes, file: file)
    let document = YAMLDocument(source)
    guard let root = document.root else {
      return ManifestReading(
        manifestSources: [source], variableSources: given.sources,
        diagnostics: (document.diagnostics + given.diagnostics).sorted())
    }
    var inclusion = Inclusion(source, files: files)
    let united = inclusion.unite(root)
    var defaults = Defaults(of: united)
    let whole = defaults?.filled(united) ?? united

    var decoder = ManifestDecoder(
      source, includes: inclusion.sources, profile: Self.profile(of: whole),
      variables: Variables(environment: environment, given: given))
    if inclusion.isBroken { decoder.excuseEverything() }
    decoder.excuseMisspeltSections(whole)
    let read = ManifestDocument.shape(file: file).decode(whole, &decoder)
    decoder.reportUndeclared(given)
    decoder.checkNames()
    decoder.checkReferences()
    decoder.checkCycles()
    let manifest = read.flatMap { decoder.expandNeeds(of: $0.manifest) }
    if let manifest {
      decoder.checkSigning(manifest)
      decoder.checkAuth(manifest)
      decoder.checkDecompress(manifest)
      decoder.checkTokenCookies(manifest)
    }
    decoder.checkWarnings(manifest, after: document.diagnostics + inclusion.diagnostics + given.diagnostics)

    let diagnostics =
      (document.diagnostics + inclusion.diagnostics + given.diagnostics + decoder.diagnostics).sorted()
    let isSound = diagnostics.allSatisfy { $0.severity != .error }
    return ManifestReading(
      manifest: isSound ? manifest : nil, manifestSources: [source] + inclusion.sources,
      variableSources: given.sources, diagnostics: diagnostics, root: whole,
      environment: decoder.variables.uses,
      variables: decoder.variables.needs, givenVariables: decoder.variables.givenTexts)
  }

  /// Reads the profile before everything else, because defaults depend on it. Mistakes in it are reported
  /// later, in order.
  private static func profile(of root: YAMLNode) -> Profile {
    root["profile"]?.scalar.flatMap { Profile(rawValue: $0.text) } ?? .server
  }
}

extension Sequence<Diagnostic> {
  /// Returns the diagnostics sorted by location. Those at one location keep the order in which they were found.
  fileprivate func sorted() -> [Diagnostic] {
    enumerated().sorted { a, b in
      a.element.location == b.element.location
        ? a.offset < b.offset : a.element.location < b.element.location
    }
    .map(\.element)
  }
}
