import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry runs`: lists runs.
struct Runs: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "List the runs in the state folder, newest first.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Option(help: "List at most this many runs.")
  var limit = 20

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = Format.text

  func validate() throws {
    if limit < 1 { throw ValidationError("--limit must be 1 or more") }
  }

  func run() throws {
    let document = try RunList.find(
      limit: limit, state: state.state, environment: ProcessInfo.processInfo.environment)
    switch format {
    case .text:
      try Output.produce(RunsText.text(document, in: CalendarZone.current(around: LaunchClock.wallTime)))
    case .json: try Output.produce(JSONText.pretty(document))
    }
  }
}
