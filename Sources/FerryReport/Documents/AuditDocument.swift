/// The output of `ferry journal check --format json`. The JSON keys are a stable public interface.
package struct AuditDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  package var at: String
  package var files: [File]

  package var isSound: Bool { files.allSatisfy(\.sound) }

  package struct File: Encodable, Sendable {
    package var file: String
    /// The session's identifier; absent for `ferry.db`.
    package var session: String?
    /// The schema version; absent if it cannot be read.
    package var schema: Int?
    package var sound: Bool
    /// The number of rows in each table.
    package var rows: [String: Int64]
    package var findings: [Finding]

    package init(
      file: String, session: String? = nil, schema: Int? = nil, sound: Bool, rows: [String: Int64],
      findings: [Finding]
    ) {
      self.file = file
      self.session = session
      self.schema = schema
      self.sound = sound
      self.rows = rows
      self.findings = findings
    }
  }

  package struct Finding: Encodable, Sendable {
    package var code: String
    package var message: String
    package var effect: String
    package var remedy: String

    package init(code: String, message: String, effect: String, remedy: String) {
      self.code = code
      self.message = message
      self.effect = effect
      self.remedy = remedy
    }
  }

  package init(state: String, at: String, files: [File]) {
    self.state = state
    self.at = at
    self.files = files
  }
}
