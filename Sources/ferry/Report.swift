import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry report`: shows, compares and merges reports.
struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show the report of a run, compare the reports of two runs, or merge those of shards.",
    discussion:
      "'ferry report' without a subcommand is 'ferry report show'; 'ferry help report show' lists its options.",
    subcommands: [ReportShowCommand.self, ReportMergeCommand.self],
    defaultSubcommand: ReportShowCommand.self)
}

/// `ferry report`: shows the report of a run, or the differences between the reports of two runs.
struct ReportShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the report of a run, or compare the reports of two runs.")

  @Argument(
    help:
      "Run ID, or with --diff the path of a report in JSON. Default: the last run; with --diff, the last two."
  )
  var runs: [String] = []

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = ReportFormat.text

  @Option(
    help: ArgumentHelp(
      "Compare the run with a plan written by 'ferry plan --out', or with the JSON output of "
        + "'ferry plan' or 'ferry plan --simulate'.",
      valueName: "file"))
  var plan: String?

  @Flag(help: "Show the differences between two runs: text or json.")
  var diff = false

  @Option(
    help: ArgumentHelp(
      "With --diff: exit with 1 if one of these conditions is met, separated by commas: new-failures, slower:20%, "
        + "budget:+10%.",
      valueName: "conditions"))
  var failOn: String?

  func validate() throws {
    if failOn != nil, !diff { throw ValidationError("--fail-on requires --diff") }
    guard diff else {
      if runs.count > 1 { throw ValidationError("to compare two runs, add --diff") }
      return
    }
    if plan != nil { throw ValidationError("--plan compares one run with a plan; omit --diff") }
    if format != .text, format != .json { throw ValidationError("--diff accepts only text and json") }
    if runs.count > 2 { throw ValidationError("--diff compares two runs") }
    _ = try conditions()
  }

  func run() throws {
    guard diff else {
      let report = try source(runs.first)
      let status = try StatusCommand.line(
        for: report.record, state: state.state, environment: ProcessInfo.processInfo.environment)
      return try Output.produce(
        plan.map { try PlannedRun.read(path: $0).compared(with: report) } ?? report,
        as: format.renderer(status: status))
    }
    let comparison = try ReportComparison(
      try runs.count == 2 ? named(runs[0]) : previous(before: runs.first),
      try runs.count == 2 ? named(runs[1]) : runs.first.map(named) ?? source(nil), failingOn: try conditions()
    )
    switch format {
    case .json: try Output.produce(JSONText.pretty(comparison))
    case .text, .ndjson, .junit, .ctrf, .github, .markdown, .html:
      try Output.produce(ComparisonText.text(comparison))
    }
    guard !comparison.failures.isEmpty else { return }
    Output.complain("ferry: --fail-on: \(comparison.failures.joined(separator: ", "))")
    throw ArgumentParser.ExitCode(FerryPlan.ExitCode.itemsFailed.rawValue)
  }

  private func conditions() throws -> [FailCondition] {
    try (failOn?.split(separator: ",", omittingEmptySubsequences: false) ?? []).map { written in
      guard let condition = FailCondition(written: String(written)) else {
        throw ValidationError(
          "--fail-on: '\(DisplayPath.shown(written.utf8))' is not a condition: write new-failures, slower:20% or budget:+10%"
        )
      }
      return condition
    }
  }

  private func source(_ id: String?) throws -> ReportSource {
    try StoredReport.find(id, state: state.state, environment: ProcessInfo.processInfo.environment)
  }

  /// The report of a run, or the report in a file if the argument contains a slash or ends in `.json`.
  private func named(_ name: String) throws -> ReportSource {
    guard name.contains("/") || name.hasSuffix(".json") else { return try source(name) }
    return try StoredReport.read(path: name)
  }

  /// The report of the latest run that has the same manifests and began before the given run; `nil` stands for the last
  /// run.
  private func previous(before name: String?) throws -> ReportSource {
    try StoredReport.previous(
      before: try name.map(named) ?? source(nil), state: state.state,
      environment: ProcessInfo.processInfo.environment)
  }
}
