/// A diagnostic in the form of `--format json`. The JSON keys are a stable public interface.
package struct DiagnosticRecord: Codable, Equatable, Sendable {
  package var code: DiagnosticCode
  package var severity: Diagnostic.Severity
  package var file: String
  /// The line, starting at 1.
  package var line: Int
  /// The column in Unicode code points, starting at 1.
  package var column: Int
  package var message: String
  package var help: String?
  package var notes: [Note]

  package struct Note: Codable, Equatable, Sendable {
    package var file: String
    package var line: Int
    package var column: Int
    package var message: String
  }

  package init(_ diagnostic: Diagnostic) {
    code = diagnostic.code
    severity = diagnostic.severity
    file = diagnostic.location.file
    line = diagnostic.location.line
    column = diagnostic.location.column
    message = diagnostic.message
    help = diagnostic.help
    notes = diagnostic.notes.map { note in
      Note(
        file: note.location.file, line: note.location.line, column: note.location.column,
        message: note.message)
    }
  }
}
