import FerryJournal
import FerryPlan

/// `ferry journal check`: looks into journals for what is wrong, and changes nothing.
package struct JournalAudit {
  private let state: StateDirectory

  package init(state: String?, environment: [String: String]) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
  }

  /// - Parameter sessions: identifiers; all that have a journal where there are none.
  package func check(sessions: [String]) throws -> AuditDocument {
    let present = try state.sessions()
    if !sessions.isEmpty {
      // One whose journal is lost is found in `ferry.db`, and so is a ferry.db that is damaged.
      let known = ((try? RunHistory.knownJournals(in: state)) ?? []).union(present).sorted()
      try SessionCatalog.checkJournals(sessions, among: known, in: state)
    }
    var files: [AuditDocument.File] = []
    try JournalCheck.run(
      sessions: Set(sessions.isEmpty ? present : sessions).sorted(), in: state
    ) { verdict in
      files.append(
        .init(
          file: verdict.file, session: verdict.session, schema: verdict.schema,
          sound: verdict.findings.isEmpty, rows: verdict.rows, findings: verdict.findings.map(Self.finding)))
    }
    return AuditDocument(state: state.path, at: LaunchClock.wallTime.rfc3339, files: files)
  }

  private static func finding(_ finding: JournalFinding) -> AuditDocument.Finding {
    .init(
      code: finding.code.rawValue, message: finding.message, lost: finding.lost, remedy: finding.remedy)
  }
}

/// What `ferry journal check --format json` writes. Its keys are an interface.
package struct AuditDocument: Encodable, Sendable {
  package var version = 1
  /// The state folder.
  package var state: String
  package var at: String
  package var files: [File]

  package var isSound: Bool { files.allSatisfy(\.sound) }

  package struct File: Encodable, Sendable {
    package var file: String
    /// Its identifier; absent of `ferry.db`.
    package var session: String?
    /// Absent where it cannot be read.
    package var schema: Int?
    package var sound: Bool
    /// Lines of each table.
    package var rows: [String: Int64]
    package var findings: [Finding]
  }

  package struct Finding: Encodable, Sendable {
    package var code: String
    package var message: String
    package var lost: String
    package var remedy: String
  }
}
