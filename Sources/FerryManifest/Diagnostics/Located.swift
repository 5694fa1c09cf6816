/// A value and the place where the manifest says it.
///
/// Two located values are equal when their values are: a comment added above changes no plan.
package struct Located<Value: Sendable>: Sendable {
  package var value: Value
  package var location: SourceLocation

  package init(_ value: Value, at location: SourceLocation) {
    self.value = value
    self.location = location
  }
}

extension Located: Equatable where Value: Equatable {
  package static func == (a: Self, b: Self) -> Bool { a.value == b.value }
}
