/// Formats diagnostics as text: headline, source line with a caret, remedy, additional locations.
package struct DiagnosticFormatter: Sendable {
  private let sources: [String: SourceText]
  private let isColored: Bool

  /// - Parameters:
  ///   - sources: the sources to which diagnostics refer, by their `file`.
  ///   - isColored: whether to write ANSI escapes, for a terminal.
  package init(sources: [SourceText], isColored: Bool = false) {
    self.sources = Dictionary(sources.map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
    self.isColored = isColored
  }

  /// All diagnostics, separated by empty lines.
  package func text(_ diagnostics: [Diagnostic]) -> String {
    diagnostics.map(text).joined(separator: "\n")
  }

  package func text(_ diagnostic: Diagnostic) -> String {
    var lines = section(
      diagnostic.severity.rawValue, "\(diagnostic.message) [\(diagnostic.code.rawValue)]",
      at: diagnostic.location)
    if let help = diagnostic.help { lines.append("\(bold("help:")) \(help)") }
    for note in diagnostic.notes { lines += section("note", note.message, at: note.location) }
    return lines.joined(separator: "\n") + "\n"
  }

  private func section(_ severity: String, _ message: String, at location: SourceLocation) -> [String] {
    let headline = "\(bold("\(location):")) \(colored(severity + ":", severity)) \(message)"
    guard let source = sources[location.file] else { return [headline] }
    let excerpt = SourceExcerpt(location, in: source)
    let number = String(location.line)
    let gutter = String(repeating: " ", count: max(4, number.count))
    return [
      headline,
      "\(gutter.dropLast(number.count))\(number) | \(excerpt.line)",
      "\(gutter) | \(excerpt.indent)\(colored(excerpt.underline, severity))",
    ]
  }

  private func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

  private func colored(_ text: String, _ severity: String) -> String {
    guard isColored else { return text }
    let color = severity == "error" ? "31" : severity == "warning" ? "33" : "36"
    return "\u{1B}[1;\(color)m\(text)\u{1B}[0m"
  }
}
