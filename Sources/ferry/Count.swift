/// Formats a number with its noun for text output.
enum Count {
  /// `1 item`, `2 items`.
  static func text(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
