/// One mistake in a manifest, with headline, location and remedy.
package struct Diagnostic: Equatable, Sendable, Error {
  /// The maximum number of reported diagnostics. Nobody reads more, and hostile text could have millions.
  static let mostReported = 1_000

  package enum Severity: String, Sendable, Codable {
    case error
    case warning
  }

  package var code: DiagnosticCode
  package var severity: Severity
  package var location: SourceLocation
  /// The headline: one line without a period.
  package var message: String
  /// The remedy.
  package var help: String?
  /// Additional locations, such as "first defined here".
  package var notes: [Note]

  package struct Note: Equatable, Sendable {
    package var location: SourceLocation
    package var message: String

    package init(_ message: String, at location: SourceLocation) {
      self.message = message
      self.location = location
    }
  }

  package init(
    _ code: DiagnosticCode, _ severity: Severity = .error, at location: SourceLocation, _ message: String,
    help: String? = nil, notes: [Note] = []
  ) {
    self.code = code
    self.severity = severity
    self.location = location
    self.message = message
    self.help = help
    self.notes = notes
  }
}
