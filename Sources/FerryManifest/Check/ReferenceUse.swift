/// A place that refers to a value which a run brings.
struct ReferenceUse: Sendable {
  var reference: Located<Reference>
  var place: Place
}
