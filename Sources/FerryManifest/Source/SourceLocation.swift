/// A location in a manifest's text.
package struct SourceLocation: Hashable, Comparable, Codable, Sendable {
  /// The path as the user gave it.
  package var file: String
  /// The line, starting at 1.
  package var line: Int
  /// The column in Unicode code points, starting at 1 (as counted by libyaml).
  package var column: Int

  package init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }

  package static func < (a: Self, b: Self) -> Bool {
    (a.file, a.line, a.column) < (b.file, b.line, b.column)
  }
}

extension SourceLocation: CustomStringConvertible {
  package var description: String { "\(file):\(line):\(column)" }
}
