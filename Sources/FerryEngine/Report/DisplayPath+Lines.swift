import FerryPlan

extension DisplayPath {
  /// A message of one line or several; each after the first stands behind the indent.
  static func lines(_ text: String, indent: String) -> String {
    text.split(separator: "\n").map { line(String($0)) }.joined(separator: "\n" + indent)
  }
}
