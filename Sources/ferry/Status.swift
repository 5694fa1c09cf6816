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

  @Option(
    help: ArgumentHelp(
      "Show the shards in this folder: the state folder of 'ferry run --shard', or a folder below its folder 'shards'.",
      valueName: "dir"))
  var shards: String?

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

  func validate() throws {
    if shards != nil, manifest != nil || !sessions.isEmpty {
      throw ValidationError("--shards shows the shards in a folder; omit --manifest and sessions")
    }
  }

  /// The state that the command shows.
  private enum Look {
    case sessions(StatusDocument)
    case shards(ShardsDocument)

    var isHeld: Bool {
      switch self {
      case .sessions(let status): status.isHeld
      case .shards(let status): status.isRunning
      }
    }

    /// The state, without the time at which it was determined.
    var withoutTime: Look {
      switch self {
      case .sessions(var status):
        status.at = ""
        return .sessions(status)
      case .shards(var status):
        status.at = ""
        return .shards(status)
      }
    }

    var isWhole: Bool {
      switch self {
      case .sessions(let status): status.isWhole
      case .shards(let status): status.isWhole
      }
    }
  }

  func run() throws {
    var shards = shards.map { ShardStatus($0) }
    guard follow else { return try show(look(&shards)) }
    var display = StatusDisplay()
    let clock = ContinuousClock()
    while true {
      let start = clock.now
      let status = try look(&shards)
      try display.show(
        text(status, onLine: true), key: text(status.withoutTime, onLine: true), isLast: !status.isHeld)
      guard status.isHeld else { break }
      // Reading the state of many shards takes at most a tenth of the time.
      let pause = max(Self.interval, start.duration(to: clock.now) * 9)
      usleep(
        UInt32(
          clamping: pause.components.seconds * 1_000_000 + pause.components.attoseconds / 1_000_000_000_000))
    }
  }

  /// The shortest time between two readings of the state with `--follow`.
  private static let interval = Duration.milliseconds(500)

  private func look(_ shards: inout ShardStatus?) throws -> Look {
    if let document = try shards?.document(at: LaunchClock.wallTime) { return .shards(document) }
    let job = try manifest.map {
      try ManifestSource(path: $0, variables: variables.parsed(), variableFiles: variables.texts()).job()
    }
    return .sessions(
      try SessionStatus(
        state: state.state, network: conditions.network, power: conditions.power,
        launch: launch ?? .background, environment: ProcessInfo.processInfo.environment
      ).look(sessions: sessions, job: job))
  }

  /// - Parameter isLine: whether JSON is written on one line.
  private func text(_ look: Look, onLine isLine: Bool) throws -> String {
    switch (format, look) {
    case (.text, .sessions(let status)):
      StatusText.text(status, in: CalendarZone.current(around: LaunchClock.wallTime))
    case (.text, .shards(let status)): ShardsText.text(status)
    case (.json, .sessions(let status)): try json(status, onLine: isLine)
    case (.json, .shards(let status)): try json(status, onLine: isLine)
    }
  }

  private func json(_ status: some Encodable, onLine isLine: Bool) throws -> String {
    try isLine ? JSONText.line(status) + "\n" : JSONText.pretty(status)
  }

  private func show(_ status: Look) throws {
    try Output.produce(text(status, onLine: false))
    guard status.isWhole else { throw ArgumentParser.ExitCode(FerryPlan.ExitCode.fault.rawValue) }
  }
}
