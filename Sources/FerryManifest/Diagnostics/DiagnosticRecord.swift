/// A diagnostic in the form of `--format json`. Its keys are an interface.
package struct DiagnosticRecord: Codable, Equatable, Sendable {
  package var code: DiagnosticCode
  package var severity: Diagnostic.Severity
  package var file: String
  /// From 1.
  package var line: Int
  /// In Unicode code points, from 1.
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
