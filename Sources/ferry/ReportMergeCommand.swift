import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry report merge`: merges the reports of all shards into one.
struct ReportMergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge", abstract: "Merge the reports of all shards into one.",
    discussion: "Exits with the exit code of the merged report.")

  @Argument(
    help: ArgumentHelp(
      "State folders of 'ferry run --shard', folders of single shards, or reports of shards in JSON.",
      valueName: "dir"))
  var paths: [String]

  @Option(help: "Output format.")
  var format = ReportFormat.text

  @Option(
    name: .customLong("report"),
    help: ArgumentHelp(
      "Also write the merged report to this file, as for ferry run. May be repeated.",
      valueName: "format=file"))
  var written: [String] = []

  func run() throws {
    let environment = ProcessInfo.processInfo.environment
    let requests = try ReportRequest.all(written, environment: environment)
    // The inputs are read again for each document.
    try ReportDestination.checkAreDifferent(
      requests.map { ("--report", $0.path) }, inputs: paths.map { ("a report to merge", $0) })
    let merged = try MergedReport(paths)
    for request in requests { try request.write(merged.source, status: merged.status) }
    if !requests.contains(where: { $0.path == "-" }) {
      try Output.produce(merged.source, as: format.renderer(status: merged.status))
    }
    throw ArgumentParser.ExitCode(merged.source.record.run.exitCode)
  }
}
