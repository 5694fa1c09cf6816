import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry report`: shows the report of a run.
struct Report: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show the report of a run.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Run ID. Default: the last run.")
  var id: String?

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let bytes = try StoredReport.find(
      id, state: state.state, environment: ProcessInfo.processInfo.environment)
    switch format {
    case .json: try Output.produce(String(decoding: bytes, as: UTF8.self))
    case .text:
      try Output.produce(ReportText.text(try ReportJSON.decode(bytes), status: state.command("status")))
    }
  }
}
