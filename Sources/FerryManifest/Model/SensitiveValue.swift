/// A string that must not be shown: a secret, or a confidential value from a response. It is printed as
/// `***`, even inside other values; only `revealed` returns the text.
package struct SensitiveValue: Hashable, Sendable {
  /// The text. Use it only in requests, in the journal's secret column and for masking.
  package let revealed: String

  package init(_ text: String) { revealed = text }
}

extension SensitiveValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  /// `dump` and the default description of an enclosing value use the mirror.
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
