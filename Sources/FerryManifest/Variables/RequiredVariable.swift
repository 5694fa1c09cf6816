/// A variable that the manifest declares, for whoever has to give it.
package struct RequiredVariable: Equatable, Sendable {
  package var name: String
  package var location: SourceLocation
  /// `string`, `integer`, …
  package var type: String
  package var description: String?
  package var isRequired: Bool
  /// The command line gives a value.
  package var isGiven: Bool
}
