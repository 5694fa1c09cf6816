import FerryPlan

extension DisplayPath {
  /// Shows a message of one or more lines; each line after the first is indented.
  static func lines(_ text: String, indent: String) -> String {
    text.split(separator: "\n").map { line(String($0)) }.joined(separator: "\n" + indent)
  }

  /// Shows a message of one or more lines as one line.
  static func joinedLines(_ text: String) -> String {
    text.split(separator: "\n").map { line(String($0)) }.joined(separator: "; ")
  }
}
