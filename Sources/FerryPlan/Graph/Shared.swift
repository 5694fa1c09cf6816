/// Stores a large property of a value outside the value, so that copying the value copies only a reference.
///
/// The property is copied when it is changed, if another value shares it. Steps are copied several times for
/// each request: without this wrapper, each copy retains every string and array of the request's template.
@propertyWrapper
package struct Shared<Value> {
  private final class Storage {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  package var wrappedValue: Value {
    _read { yield storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Optional {
  /// Changes properties that most values do not have, and that are therefore stored together in an optional shared value.
  ///
  /// - Parameters:
  ///   - isNone: whether the change sets a property to the value that it has in `initial`. Nothing is then stored if
  ///     nothing was.
  ///   - initial: the value that is stored before the first change.
  package mutating func change<Value>(
    isNone: Bool, from initial: @autoclosure () -> Value, _ change: (inout Value) -> Void
  ) where Wrapped == Shared<Value> {
    guard !isNone || self != nil else { return }
    var known = self ?? Shared(wrappedValue: initial())
    // The storage has one owner while it is changed, so that it is not copied.
    self = nil
    change(&known.wrappedValue)
    self = known
  }
}

// The storage is changed only if no other value refers to it.
extension Shared: @unchecked Sendable where Value: Sendable {}

extension Shared: Equatable where Value: Equatable {
  package static func == (a: Self, b: Self) -> Bool {
    a.storage === b.storage || a.storage.value == b.storage.value
  }
}

extension Shared: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { storage.value.hash(into: &hasher) }
}

extension Shared: Encodable where Value: Encodable {
  package func encode(to encoder: any Encoder) throws { try storage.value.encode(to: encoder) }
}

extension Shared: Decodable where Value: Decodable {
  package init(from decoder: any Decoder) throws { self.init(wrappedValue: try Value(from: decoder)) }
}
