/// A number of things for people.
enum Count {
  /// `1 item`, `2 items`.
  static func text(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
