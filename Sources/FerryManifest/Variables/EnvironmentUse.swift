/// An environment variable that the manifest uses.
package struct EnvironmentUse: Hashable, Sendable {
  package var name: String
  package var location: SourceLocation
  package var hasDefault: Bool
  /// Whether `secrets` uses the variable when a run starts.
  package var isSecret: Bool
}
