import FerryJournal
import FerryPlan

/// The jobs with an open round, which `ferry resume` continues.
package enum OpenJobs {
  package struct Open: Sendable {
    package var manifest: String
    package var path: String
    package var variables: [String: String]
  }

  package static func find(state: String?, environment: [String: String]) throws -> [Open] {
    let history = try RunHistory.openForReading(
      in: StateDirectory(explicit: state, environment: environment))
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    return try history.jobsWithOpenRound.map {
      Open(manifest: $0.manifest, path: $0.path, variables: $0.variables)
    }
  }

  /// Throws `UsageError` if one of the given sessions exists neither in these jobs nor in the state folder.
  package static func check(
    _ sessions: [String], of jobs: [Job], state: String?, environment: [String: String]
  ) throws {
    let others = sessions.filter { session in !jobs.contains { $0.has(session: session) } }
    guard !others.isEmpty else { return }
    let state = try StateDirectory(explicit: state, environment: environment)
    let inbox = try Inbox.openForReading(in: state)
    defer { try? inbox.close() }  // The inbox was only read, so closing it cannot lose data.
    try SessionCatalog(state: state, inbox: inbox).check(others)
  }
}
