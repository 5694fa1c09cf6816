/// A place that refers to a value that is known only during a run.
struct ReferenceUse: Sendable {
  var reference: Located<Reference>
  var place: Place
}
