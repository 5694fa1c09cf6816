import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// `ferry run`: runs manifests, resuming unfinished work.
struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run manifests, resuming unfinished work.")

  @OptionGroup var source: ManifestsOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var options: RunOptions
  @OptionGroup var reports: ReportOptions

  @Option(
    name: .customLong("only"),
    help: ArgumentHelp(
      "Run only this node, with the tokens and requests that it uses. Write MANIFEST/NODE if several "
        + "manifests have a node with this name. May be repeated.",
      valueName: "node"))
  var only: [String] = []

  @Option(help: "Start at most this many items.")
  var limit: Int?

  @Option(
    help: ArgumentHelp(
      "Run this plan, written by ferry plan --out, instead of a manifest. If the manifest, the files or the journal have "
        + "changed since, nothing is run.",
      valueName: "file"))
  var plan: String?

  @Option(
    help: ArgumentHelp(
      "Run one part of the manifest: K/N for shard K of N, setup/N or finish/N for the work before and after the shards, "
        + "auto or auto/N for the shard that the environment of a Slurm or Kubernetes task specifies.",
      valueName: "shard"))
  var shard: String?

  @Option(
    help: ArgumentHelp(
      "With --shard: how long the process owns the shard after it last renewed its lease. Default: 30s.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var lease: Duration?

  @Flag(help: "Only show the plan, as ferry plan does.")
  var dryRun = false

  @Flag(help: "Drop the unfinished work of the last round, as ferry reset does, and begin a new round.")
  var fresh = false

  @Flag(help: ArgumentHelp("With --fresh: " + DropUnanswered.help))
  var dropUnanswered = false

  func validate() throws {
    if plan == nil, source.manifests.isEmpty {
      throw ValidationError("specify a manifest, or a plan with --plan")
    }
    if plan != nil {
      guard source.manifests.isEmpty, source.variables.variables.isEmpty,
        source.variables.variableFiles.isEmpty,
        only.isEmpty, !fresh, !dryRun
      else {
        throw ValidationError(
          "--plan contains the manifest, its variables and --only; omit them, and --fresh and --dry-run")
      }
    }
    if options.observation.events == "-", reports.written.contains(where: { $0 == "-" || $0.hasSuffix("=-") })
    {
      throw ValidationError("--events and --report cannot both write to standard output")
    }
    if shard != nil {
      guard plan == nil, source.manifests.count == 1 else {
        throw ValidationError("--shard runs one manifest, without --plan")
      }
      guard !dryRun else {
        throw ValidationError("--dry-run does not show one shard; use 'ferry plan --shards N'")
      }
    }
    if let lease {
      guard shard != nil else { throw ValidationError("--lease requires --shard") }
      guard (Duration.seconds(1)...(.seconds(3600))).contains(lease) else {
        throw ValidationError("--lease must be 1s to 1h")
      }
    }
    if dropUnanswered, !fresh { throw ValidationError("--drop-unanswered requires --fresh") }
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
  }

  func run() throws {
    let saved = try plan.map { try SavedPlan(path: $0) }
    let jobs =
      try saved.map { Jobs(try ManifestSource(path: $0.manifest, variables: $0.variables).job()) }
      ?? source.read()
    let (state, part) = try place(of: jobs)
    if dryRun { return try preview(jobs, state: state) }
    var launch = Launch.Options()
    launch.part = part
    if let lease { launch.lease = lease }
    if let saved, let job = jobs.all.first {
      launch.verify = try verification(of: job, saved)
      launch.planned = saved.expected
    }
    launch.state = state
    launch.reports = try reports.requests()
    launch.reportItems = reports.items
    launch.files = plan.map { [$0] } ?? []
    launch.only = saved?.only ?? only
    launch.limit = limit
    launch.maxDuration = options.maxDuration
    launch.network = conditions.network
    launch.power = conditions.power
    let command = RunCommand(options: options)
    try command.checkFiles(
      of: jobs.all, launch.reports,
      inputs: source.variables.variableFiles.map { ("--vars-file", $0) }
        + (plan.map { [("--plan", $0)] } ?? []))
    if fresh {
      // A launch that is refused must not reset anything.
      try ShardFolder.check(
        jobs, part: part, state: state, environment: ProcessInfo.processInfo.environment)
      if let code = try command.reset(jobs, state: state, dropsUnanswered: dropUnanswered) {
        throw ArgumentParser.ExitCode(code.rawValue)
      }
    }
    let code = try command.run(jobs, launch).code
    throw ArgumentParser.ExitCode(code.rawValue)
  }

  /// The state folder, and the part of the manifest that `--shard` selects.
  private func place(of jobs: Jobs) throws -> (state: String?, part: ShardPart?) {
    guard let shard, let job = jobs.all.first else { return (state.state, nil) }
    let environment = ProcessInfo.processInfo.environment
    let part = try ShardArgument.part(shard, environment: environment)
    if part.shard == nil, !only.isEmpty {
      throw UsageError("--shard \(part): the work before and after the shards is run as a whole; omit --only")
    }
    return (try ShardFolder.create(for: part, of: job, state: state.state, environment: environment), part)
  }

  /// Compares the plan with the manifest, the files and the journal.
  private func verification(of job: Job, _ saved: SavedPlan) throws -> @Sendable () throws -> Void {
    let state = state.state
    let again = try self.state.command("plan", saved.manifest, "--out", "FILE")
    return {
      let drift = try Preview(job, state: state, only: saved.only).drift(from: saved)
      guard !drift.isEmpty else { return }
      throw UsageError(
        "the plan is out of date; nothing was done\n" + drift.map { "  \($0)\n" }.joined()
          + "help: make another plan: \(again)")
    }
  }

  /// Prints the plan of each manifest that has a selected node.
  private func preview(_ jobs: Jobs, state: String?) throws {
    let output = PlanOutput(zone: .current(around: LaunchClock.wallTime))
    for (job, only) in try Selection.split(only, among: jobs) {
      try output.produce(
        Preview(
          job, state: state, only: only, network: conditions.network, power: conditions.power,
          launch: options.launch ?? (Output.isInteractive ? .foreground : .background)),
        of: job)
    }
  }
}

/// Options of `run` and `resume`.
struct RunOptions: ParsableArguments {
  @Flag(help: "Print only errors.")
  var quiet = false

  @Flag(help: "Exit with 0, not 8, if all remaining work waits for conditions to change.")
  var deferredOk = false

  @Flag(help: "Do not exit with 1 because of items canceled by ferry cancel.")
  var cancelledOk = false

  @Flag(help: "Exit with 0, not 6, if another process is using the session.")
  var skipIfRunning = false

  @Option(
    help: ArgumentHelp(
      "After this time, start no new work, save all state and exit. Units: \(Duration.writtenUnits).",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var maxDuration: Duration?

  @Option(
    help: ArgumentHelp(
      "If all remaining work has to wait, wait instead of exiting, at most this long each time.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var wait: Duration?

  @OptionGroup var lock: LockOptions
  @OptionGroup var observation: ObservationOptions

  @Option(
    help: ArgumentHelp(
      "Kind of launch. Default: foreground on a terminal, otherwise background.",
      valueName: "kind"))
  var launch: LaunchKind?
}

extension LaunchKind: ExpressibleByArgument {}
