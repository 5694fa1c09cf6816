/// A text that must not be shown: a secret, or what a response gave in confidence. It prints as `***`, also within
/// other values; only `revealed` gives the text.
package struct SensitiveValue: Hashable, Sendable {
  /// For the request that carries it, the journal's secret column and the mask. Nothing else.
  package let revealed: String

  package init(_ text: String) { revealed = text }
}

extension SensitiveValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  /// `dump` and the default description of a value that holds this one go through the mirror.
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
