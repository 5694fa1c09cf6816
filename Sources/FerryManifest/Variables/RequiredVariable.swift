/// A variable that the manifest declares, for callers that must supply its value.
package struct RequiredVariable: Equatable, Sendable {
  package var name: String
  package var location: SourceLocation
  /// The declared type: `string`, `integer`, …
  package var type: String
  package var description: String?
  package var isRequired: Bool
  /// Whether the command line sets a value.
  package var isGiven: Bool
}
