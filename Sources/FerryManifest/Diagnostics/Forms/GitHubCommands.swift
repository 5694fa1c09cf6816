/// Diagnostics as workflow commands of GitHub Actions, which shows them next to the affected lines.
///
/// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
package struct GitHubCommands: Sendable {
  private let sources: [SourceText]

  /// - Parameter sources: the sources to which diagnostics refer, used to find the end of a value.
  package init(sources: [SourceText]) { self.sources = sources }

  /// The workflow commands, one per line.
  package func text(_ diagnostics: [Diagnostic]) -> String {
    diagnostics.map { command($0) + "\n" }.joined()
  }

  private func command(_ diagnostic: Diagnostic) -> String {
    let place = diagnostic.location
    var properties = [
      ("file", place.file), ("line", String(place.line)), ("col", String(place.column)),
    ]
    // GitHub's end column is inclusive.
    if let end = sources.endColumn(of: place) { properties.append(("endColumn", String(end - 1))) }
    properties.append(("title", diagnostic.code.rawValue))

    var message = diagnostic.message
    if let help = diagnostic.help { message += "\nhelp: \(help)" }
    for note in diagnostic.notes { message += "\nnote: \(note.location): \(note.message)" }
    let list = properties.map { "\($0.0)=\(Self.property($0.1))" }.joined(separator: ",")
    return "::\(diagnostic.severity.rawValue) \(list)::\(Self.data(message))"
  }

  /// A message. Escapes characters that would end the command or start another one, as parsed by the runner's
  /// `command.ts`.
  package static func data(_ text: String) -> String { escaped(text, "%\r\n") }

  /// The value of a property.
  package static func property(_ text: String) -> String { escaped(text, "%\r\n:,") }

  // Iterates over scalars, because CR LF is one Character that equals neither CR nor LF.
  private static func escaped(_ text: String, _ special: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      guard special.unicodeScalars.contains(scalar) else {
        result.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
    }
    return result
  }
}
