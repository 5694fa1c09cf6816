/// What a reading brought.
package struct ManifestReading: Sendable {
  /// Nil where there is any error.
  package var manifest: Manifest?
  /// In the order of their places.
  package var diagnostics: [Diagnostic]
  /// The document behind the manifest, with all that it shares put in its places.
  package var root: YAMLNode?
  /// What the manifest asks the environment for, in the order of its text.
  package var environment: [EnvironmentUse]
}
