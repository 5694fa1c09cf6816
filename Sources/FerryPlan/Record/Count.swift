/// Formats a number with its noun for text output.
package enum Count {
  /// The number with its noun, for example `1 item` or `2 items`.
  ///
  /// - Parameter plural: the plural of the noun; by default the noun with an `s`.
  package static func text(_ number: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
  }
}
