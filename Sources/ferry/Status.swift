import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry status`: says how sessions stand.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say how sessions stand: who holds them, what is left in them, and why it waits.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @Argument(help: "The sessions' identifiers; by default all.")
  var sessions: [String] = []

  @Option(help: "Tell of this manifest's sessions.", completion: .file(extensions: ["yaml", "yml"]))
  var manifest: String?

  @OptionGroup var variables: VariableOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions

  @Option(
    help: ArgumentHelp(
      "Of which kind the run would be whose reasons to wait are told; by default background.",
      valueName: "kind"))
  var launch: LaunchKind?

  @Option(help: "The form.")
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
