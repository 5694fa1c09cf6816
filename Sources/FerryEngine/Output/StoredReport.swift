import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// A report of an earlier run in the state folder.
package enum StoredReport {
  /// Returns the report of an earlier run.
  ///
  /// - Parameter id: the run; `nil` for the last run that has a report.
  package static func find(
    _ id: String?, state: String?, environment: [String: String]
  ) throws -> ReportSource {
    let directory = try StateDirectory(explicit: state, environment: environment)
    let history = try RunHistory.openForReading(in: directory)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    let found: String?
    if let id {
      guard try history.run(id: id) != nil else {
        throw UsageError(
          "there is no run '\(DisplayPath.shown(id))' in \(directory.path)\n"
            + "help: run IDs are the names of the folders in \(directory.runsFolder); by default, the last run is shown"
        )
      }
      found = id
    } else {
      found = try history.runs(limit: 1).first?.id
    }
    guard let found, let run = try history.run(id: found) else {
      throw UsageError(
        "there is no run in \(directory.path) yet\nhelp: 'ferry run' writes a report; use --state to select a different folder"
      )
    }
    guard let report = try source(ofRun: found, in: directory) else {
      throw UsageError(try missing(run, history, in: directory))
    }
    return report
  }

  /// The report in a file.
  package static func read(path: String) throws -> ReportSource {
    let refusal = { (reason: String) in UsageError("\(DisplayPath.shown(path)): \(reason)") }
    return try source(at: path, refusal: refusal) {
      do throws(FileContents.Failure) {
        return try FileContents(path).regularFile()
      } catch {
        throw refusal("cannot be read: \(error.reason)")
      }
    }
  }

  /// The report of the last run that began before another run and had the same manifests as that run. Runs without a
  /// report are skipped.
  package static func previous(
    before report: ReportSource, state: String?, environment: [String: String]
  ) throws -> ReportSource {
    let directory = try StateDirectory(explicit: state, environment: environment)
    let history = try RunHistory.openForReading(in: directory)
    defer { try? history.close() }  // The history was only read, so closing it cannot lose data.
    let run = report.record.run
    let names = Set((run.manifests ?? []).map(\.name))
    // The rows are sorted from the newest run to the oldest. The identifiers of runs that began in the same second do
    // not show their order.
    let rows = try history.runs()
    let older =
      rows.firstIndex { $0.id == run.id }.map { rows[($0 + 1)...] } ?? rows.filter { $0.id < run.id }[...]
    for row in older where Set(row.rounds.map(\.manifest)) == names {
      if let source = try source(ofRun: row.id, in: directory) { return source }
    }
    throw UsageError(
      "no run of \(names.sorted().joined(separator: ", ")) before \(run.id) has a report\n"
        + "help: 'ferry runs' lists the runs; specify two of them, or the path of a report")
  }

  /// The report that a run stored; `nil` if there is none.
  static func source(ofRun id: String, in directory: StateDirectory) throws -> ReportSource? {
    guard let descriptor = try directory.openReport(ofRun: id) else { return nil }
    close(descriptor)
    let path = try directory.report(ofRun: id)
    let refusal = { (reason: String) in EngineFault(.fault, "\(path): \(reason)") }
    return try source(at: path, refusal: refusal) {
      guard let descriptor = try directory.openReport(ofRun: id) else { throw refusal("has been removed") }
      return descriptor
    }
  }

  /// The maximum length of a line in bytes. ferry writes each item on its own line.
  private static let longestLine = 64 << 20

  /// A report whose file is open only while it is read, because `ferry report merge` reads the reports of many shards.
  ///
  /// - Parameters:
  ///   - refusal: the error for a file that is not a report.
  ///   - open: opens the file. The caller closes it.
  private static func source(
    at path: String, refusal: @escaping (String) -> any Error, open: @escaping () throws -> Int32
  ) throws -> ReportSource {
    func checked<Value>(_ read: () throws -> Value) throws -> Value {
      do {
        return try read()
      } catch is DecodingError {
        throw refusal("is not a report of ferry in JSON")
      } catch is RunRecord.ImpossibleCount {
        throw refusal("is not a report of ferry: it has a count that no run can have")
      }
    }
    let source = try checked {
      try ReportJSON.source { body in
        let descriptor = try open()
        // The file was only read, so closing it cannot lose data.
        defer { close(descriptor) }
        if let code = try LineReader.eachLine(of: descriptor, longest: longestLine, body) {
          guard code != EFBIG else {
            throw refusal("is not a report of ferry: it has a line of more than \(longestLine >> 20) MiB")
          }
          throw EngineFault(.fault, "\(path): the report cannot be read: \(String(cString: strerror(code)))")
        }
      }
    }
    let cursor = source.cursor
    return ReportSource(source.record) { body in try checked { try cursor(body) } }
  }

  /// A message with the reason why a run has no report.
  private static func missing(
    _ run: RunRow, _ history: RunHistory, in directory: StateDirectory
  ) throws(JournalError) -> String {
    let began = "it began \(run.startedAt.rfc3339) as process \(run.process.pid)"
    if run.state == .ended {
      let end = run.exitCode.map { " with exit code \($0)" } ?? ""
      return "run \(run.id) has no report: it ended\(end) before it could write one"
    }
    guard try run.isInterrupted(in: directory) else {
      return "run \(run.id) has no report yet: it is still running; \(began)"
    }
    var isOpen = false
    for round in run.rounds where try history.interruptedRun(of: round.manifest, in: directory) == run {
      isOpen = true
    }
    return "run \(run.id) was interrupted and has no report: \(began), which no longer exists\n"
      + (isOpen
        ? "help: to resume its work and write its report, run: \(try ResumeCommand.line(of: run, history, in: directory))"
        : "help: there is nothing to resume; the next run closes this run and writes its report")
  }
}
