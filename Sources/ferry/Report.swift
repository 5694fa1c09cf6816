import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry report`: shows the report of a run.
struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show the report of a run.")

  @Argument(help: "Run ID. Default: the last run.")
  var id: String?

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = ReportFormat.text

  func run() throws {
    let source = try StoredReport.find(
      id, state: state.state, environment: ProcessInfo.processInfo.environment)
    try Output.produce(source, as: format.renderer(status: state.command("status")))
  }
}
