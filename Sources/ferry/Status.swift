import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry status`: shows the state of sessions.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
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

  @Flag(help: "Show the state again whenever it changes, until no process holds a session.")
  var follow = false

  func run() throws {
    guard follow else { return try show(look()) }
    var last = ""
    while true {
      let status = try look()
      let text = try text(status, onLine: true)
      if text != last {
        // At a terminal, the new state replaces the old one.
        let erasure = isatty(STDOUT_FILENO) != 0 ? "\u{1B}[H\u{1B}[2J" : ""
        try Output.export(Array((erasure + text).utf8))
      }
      last = text
      guard status.isHeld else { break }
      usleep(Self.interval)
    }
  }

  /// The time between two looks of `--follow`, in microseconds.
  private static let interval: UInt32 = 500_000

  private func look() throws -> StatusDocument {
    let job = try manifest.map {
      try ManifestSource(path: $0, variables: variables.parsed(), variableFiles: variables.texts()).job()
    }
    return try SessionStatus(
      state: state.state, network: conditions.network, power: conditions.power,
      launch: launch ?? .background, environment: ProcessInfo.processInfo.environment
    ).look(sessions: sessions, job: job)
  }

  /// - Parameter isLine: whether JSON is written on one line.
  private func text(_ status: StatusDocument, onLine isLine: Bool) throws -> String {
    switch format {
    case .text: StatusText.text(status, in: CalendarZone.current(around: LaunchClock.wallTime))
    case .json: try isLine ? JSONText.line(status) + "\n" : JSONText.pretty(status)
    }
  }

  private func show(_ status: StatusDocument) throws {
    try Output.produce(text(status, onLine: false))
    guard status.isWhole else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
  }
}
