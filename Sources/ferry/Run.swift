import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// `ferry run`: carries manifests out, or goes on with them.
struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Carry manifests out, or go on where they were left.")

  @OptionGroup var source: ManifestsOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var options: RunOptions

  @Option(help: "Also write the report here; - is the standard output.")
  var report: String?

  @Option(
    name: .customLong("only"),
    help: ArgumentHelp(
      "Carry out this node and what it cannot do without; MANIFEST/NODE where several have it. May be repeated.",
      valueName: "node"))
  var only: [String] = []

  @Option(help: "Begin at most so many items.")
  var limit: Int?

  @Flag(help: "Say what would be done, and do nothing: ferry plan.")
  var dryRun = false

  @Flag(help: "Drop what is left of the last round first, and begin a new one: ferry reset.")
  var fresh = false

  @Flag(help: ArgumentHelp("With --fresh: " + DropUnanswered.help))
  var dropUnanswered = false

  func validate() throws {
    if dropUnanswered, !fresh { throw ValidationError("--drop-unanswered requires --fresh") }
    if let limit, limit < 0 { throw ValidationError("--limit takes a number of items, 0 or more") }
  }

  func run() throws {
    let jobs = try source.read()
    if dryRun { return try preview(jobs) }
    if let report { try ReportDestination(report).check() }
    var launch = Launch.Options()
    launch.state = state.state
    launch.report = report
    launch.only = only
    launch.limit = limit
    launch.maxDuration = options.maxDuration
    launch.network = conditions.network
    launch.power = conditions.power
    let command = RunCommand(options: options)
    if fresh,
      let code = try command.reset(
        jobs, state: state.state, dropsUnanswered: dropUnanswered)
    {
      throw ArgumentParser.ExitCode(code.rawValue)
    }
    let code = try command.run(jobs, launch).code
    throw ArgumentParser.ExitCode(code.rawValue)
  }

  /// The plan of each manifest of which something would run.
  private func preview(_ jobs: Jobs) throws {
    let output = PlanOutput(zone: .current(around: LaunchClock.wallTime))
    for (job, only) in try Selection.split(only, among: jobs) {
      try output.produce(
        Preview(
          job, state: state.state, only: only, network: conditions.network, power: conditions.power,
          launch: options.launch ?? (Output.isInteractive ? .foreground : .background)),
        of: job)
    }
  }
}

/// What `run` and `resume` share.
struct RunOptions: ParsableArguments {
  @Flag(help: "Say nothing but errors.")
  var quiet = false

  @Flag(help: "End with 0, not 8, where all that is left waits for other conditions.")
  var deferredOk = false

  @Flag(help: "End with 0 where another process has the session.")
  var skipIfRunning = false

  @Option(
    help: ArgumentHelp(
      "Start nothing more after this long, and save: a number and a unit of \(Duration.writtenUnits).",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var maxDuration: Duration?

  @Option(
    help: ArgumentHelp(
      "Where nothing can be done before a moment in the future, wait for it, but no longer than this.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var wait: Duration?

  @OptionGroup var lock: LockOptions

  @Option(
    help: ArgumentHelp(
      "How it came about. By default foreground at a terminal, and background elsewhere.",
      valueName: "kind"))
  var launch: LaunchKind?
}

extension LaunchKind: ExpressibleByArgument {}
