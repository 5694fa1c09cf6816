import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry status`: shows the state of sessions.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Show the state of sessions: the processes that use them, the remaining work, and why it is waiting."
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "Session identifiers. Default: all sessions.")
  var sessions: [String] = []

  @Option(help: "Show the sessions of this manifest.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String?

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions

  @Option(
    help: ArgumentHelp(
      "Kind of launch to assume when determining why work is waiting. Default: background.",
      valueName: "kind"))
  var launch: LaunchKind?

  @Option(help: "Output format.")
  var format = Format.text

  func run() throws {
    let job = try manifest.map {
      try ManifestSource(path: $0, variables: variables.parsed(), variableFiles: variables.texts()).job()
    }
    let status = try SessionStatus(
      state: state.state, network: conditions.network, power: conditions.power,
      launch: launch ?? .background, environment: ProcessInfo.processInfo.environment
    ).look(sessions: sessions, job: job)
    switch format {
    case .text:
      try Output.produce(StatusText.text(status, in: CalendarZone.current(around: LaunchClock.wallTime)))
    case .json: try Output.produce(try JSONText.pretty(status))
    }
    guard status.isWhole else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
  }
}
