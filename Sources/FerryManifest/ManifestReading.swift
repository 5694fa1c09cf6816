/// The result of reading a manifest.
package struct ManifestReading: Sendable {
  /// The manifest; nil if there is any error.
  package var manifest: Manifest?
  /// The manifest, then its includes, then the files of variables.
  package var sources: [SourceText]
  /// The sources that make up the manifest, without the files of variables.
  package var manifestSources: [SourceText]
  /// The values that the command line sets for the manifest's variables.
  package var givenVariables: [String: String]
  /// The diagnostics, ordered by location.
  package var diagnostics: [Diagnostic]
  /// The document with all its includes, and with the values of `defaults` inserted.
  package var root: YAMLNode?
  /// The environment variables that the manifest uses, in the order of its text.
  package var environment: [EnvironmentUse]
  /// The variables that the manifest declares, in the order of its text.
  package var variables: [RequiredVariable]

  init(
    manifest: Manifest? = nil, manifestSources: [SourceText], variableSources: [SourceText],
    diagnostics: [Diagnostic], root: YAMLNode? = nil, environment: [EnvironmentUse] = [],
    variables: [RequiredVariable] = [],
    givenVariables: [String: String] = [:]
  ) {
    self.manifest = manifest
    self.manifestSources = manifestSources
    sources = manifestSources + variableSources
    self.givenVariables = givenVariables
    self.diagnostics = diagnostics
    self.root = root
    self.environment = environment
    self.variables = variables
  }
}
