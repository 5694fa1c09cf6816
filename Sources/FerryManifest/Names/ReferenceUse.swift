/// A place that refers to a value which is known only during a run.
struct ReferenceUse: Sendable {
  var reference: Located<Reference>
  var place: Place
}
