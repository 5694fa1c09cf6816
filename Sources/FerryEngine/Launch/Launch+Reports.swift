import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// Stores the reports of runs, including those of runs that were killed.
extension Launch {
  enum ReportStage {
    /// The work has ended, and the requests of `on_end` have not.
    case work
    case final
  }

  /// Stores the report in the state folder; returns its path.
  func keep(_ source: ReportSource, as stage: ReportStage) throws -> String {
    let id = source.record.run.id
    do {
      let report = try state.createReportFolder(ofRun: id)
      let work = try state.workReport(ofRun: id)
      switch stage {
      case .work:
        try ReportWriter.write(source, to: work)
        return work
      case .final:
        try ReportWriter.write(source, to: report)
        unlink(work)  // The final report replaces it. Usually it does not exist.
        return report
      }
    } catch {
      // The fault that stopped the run is more important than the failure to report it.
      guard let fault = source.record.run.fault else { throw error }
      throw EngineFault(.fault, "\(fault)\n\(EngineFault.describe(error))")
    }
  }

  /// Closes runs that were killed. If a run had stored the report of its work, this report shows how the run ended.
  /// Otherwise, the run is marked as interrupted, and its report shows the interruption.
  func closeDeadRuns(
    _ history: RunHistory, at now: Instant, isAlive: (ProcessIdentity) -> Bool,
    _ notice: (String) -> Void
  ) throws {
    for run in try history.closeDeadRuns(at: now, isAlive: isAlive) {
      ProgressFile.remove(ofRun: run.id, in: state)
      if let ended = try takeWorkReport(ofRun: run.id) {
        notice(
          "run \(run.id) was killed after its work had ended"
            + (ended.isFinal ? "" : "; it is unknown whether its on_end requests were sent"))
        try history.end(run: run.id, exitCode: ended.exitCode.rawValue, report: ended.path, at: now)
        continue
      }
      let manifests = try run.rounds.map { round in
        RunRecord.Manifest(
          name: round.manifest, path: try history.job(manifest: round.manifest)?.path ?? "", sha256: "",
          round: round.number, roundClosed: try !history.isOpen(round))
      }
      let isResumed = manifests.contains { !$0.roundClosed && jobs.plan.manifests.contains($0.name) }
      notice("run \(run.id) was interrupted\(isResumed ? "; this run resumes it" : "")")
      var record = RunRecord(
        run: .init(
          id: run.id, manifests: manifests, launch: run.launch, startedAt: run.startedAt.rfc3339,
          endedAt: now.rfc3339, exitCode: ExitCode.temporary.rawValue, state: .interrupted),
        totals: .init(), nodes: [], items: [])
      record.run.shard = run.part
      record.run.pass = run.rounds.first?.pass
      try ReportWriter.write(ReportSource(record), to: state.createReportFolder(ofRun: run.id))
    }
  }

  /// The report of a killed run whose work had ended.
  private struct EndedWork {
    var exitCode: ExitCode
    var path: String
    /// Whether the report contains the outcomes of the requests of `on_end`.
    var isFinal: Bool
  }

  /// Makes the report of a killed run's work its report, unless the run has stored its final report; `nil` if there is
  /// neither.
  private func takeWorkReport(ofRun id: String) throws -> EndedWork? {
    let report = try state.createReportFolder(ofRun: id)
    let work = try state.workReport(ofRun: id)
    var status = stat()
    let isFinal = lstat(report, &status) == 0
    // Either fails if there is no report of the work.
    if isFinal { unlink(work) } else { rename(work, report) }
    // A report that cannot be read is replaced by that of an interrupted run.
    guard let source = try? StoredReport.source(ofRun: id, in: state),
      let code = ExitCode(rawValue: source.record.run.exitCode)
    else { return nil }
    return EndedWork(exitCode: code, path: report, isFinal: isFinal)
  }
}

extension RunHistory {
  /// Whether the round of a run is open.
  fileprivate func isOpen(_ round: RunRow.Round) throws(JournalError) -> Bool {
    guard let latest = try latestRound(manifest: round.manifest) else { return false }
    return latest.number == round.number && latest.closedAt == nil
  }
}
