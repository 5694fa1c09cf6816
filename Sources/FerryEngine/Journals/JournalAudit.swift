import FerryJournal
import FerryPlan
import FerryReport

/// `ferry journal check`: checks journals for damage without changing them.
package struct JournalAudit {
  private let state: StateDirectory

  package init(state: String?, environment: [String: String]) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
  }

  /// Checks the journals of the sessions and the run history.
  ///
  /// - Parameter sessions: identifiers; if empty, all sessions that have a journal.
  package func check(sessions: [String]) throws -> AuditDocument {
    let present = try state.sessions()
    if !sessions.isEmpty {
      // A session whose journal is lost is found in `ferry.db`. If `ferry.db` is damaged, the check reports the damage.
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
      code: finding.code.rawValue, message: finding.message, effect: finding.effect, remedy: finding.remedy)
  }
}
