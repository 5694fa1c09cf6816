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
  /// - Parameter sessions: identifiers; if empty, all sessions that have a journal, and those of which only the record of
  ///   their transactions remains.
  package func check(sessions: [String]) throws -> AuditDocument {
    // The check of `ferry.db` reports the lost journals that are registered there. If `ferry.db` is damaged, the check
    // reports the damage.
    let registered = (try? RunHistory.registeredJournals(in: state)) ?? []
    let present = try state.lostJournals.subtracting(registered).union(state.sessions())
    if !sessions.isEmpty {
      try SessionCatalog.checkJournals(sessions, among: registered.union(present).sorted(), in: state)
    }
    var files: [AuditDocument.File] = []
    try JournalCheck.run(
      sessions: (sessions.isEmpty ? present : Set(sessions)).sorted(), in: state
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
