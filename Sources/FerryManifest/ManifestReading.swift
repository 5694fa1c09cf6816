/// What a reading brought.
package struct ManifestReading: Sendable {
  /// Nil where there is any error.
  package var manifest: Manifest?
  /// The manifest's text, then those of its includes, then the files of variables.
  package var sources: [SourceText]
  /// Those of them that the manifest is made of.
  package var manifestSources: [SourceText]
  /// The values that the command line gives to variables of the manifest.
  package var givenVariables: [String: String]
  /// In the order of their places.
  package var diagnostics: [Diagnostic]
  /// The document with all that it includes, and its `defaults` in their places.
  package var root: YAMLNode?
  /// What the manifest asks the environment for, in the order of its text.
  package var environment: [EnvironmentUse]
  /// The variables that it declares, in the order of its text.
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
