/// A name that the manifest asks the environment for.
package struct EnvironmentUse: Hashable, Sendable {
  package var name: String
  package var location: SourceLocation
  package var hasDefault: Bool
  /// Asked for by `secrets`, when a run starts.
  package var isSecret: Bool
}
