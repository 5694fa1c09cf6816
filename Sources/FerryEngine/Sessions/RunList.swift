import FerryJournal
import FerryPlan
import FerryReport

/// The runs in a state folder.
package enum RunList {
  /// - Parameter limit: the largest number of runs.
  package static func find(limit: Int, state: String?, environment: [String: String]) throws -> RunsDocument {
    let directory = try StateDirectory(explicit: state, environment: environment)
    let history = try RunHistory.openForReading(in: directory)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    return RunsDocument(
      runs: try history.runs(limit: limit).map { run in
        let state: RunsDocument.State =
          try run.isInterrupted(in: directory) ? .interrupted : run.state == .ended ? .ended : .running
        return RunsDocument.Entry(
          id: run.id, manifests: run.rounds.map { .init(name: $0.manifest, round: $0.number) },
          launch: run.launch, state: state, startedAt: run.startedAt, endedAt: run.endedAt,
          exitCode: run.exitCode, pid: state == .running ? run.process.pid : nil, report: run.report)
      })
  }
}
