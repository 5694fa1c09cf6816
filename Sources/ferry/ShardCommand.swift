import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// `ferry shard`: writes the files that run a manifest's shards on an engine, and submits them.
struct ShardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shard",
    abstract: "Write the files that run a manifest in shards on Slurm, Kubernetes or GNU parallel.")

  @OptionGroup var source: ManifestOptions
  @OptionGroup var state: StateOptions

  @Option(help: "The number of shards.")
  var shards: Int

  @Option(help: "The engine.")
  var engine: ShardScripts.Engine

  @Option(help: ArgumentHelp("Folder to write to.", valueName: "dir"))
  var out = "shards"

  @Option(
    name: .customLong("engine-option"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A further option of sbatch for the shards, such as --time=02:00:00, or of parallel. May be repeated.",
      valueName: "option"))
  var options: [String] = []

  @Option(help: "The ferry program on the machines.")
  var program = "ferry"

  @Flag(help: "Start the first of the scripts, which submits or runs everything.")
  var submit = false

  func validate() throws {
    guard (1...Shard.most).contains(shards) else {
      throw ValidationError("--shards must be 1 to \(Shard.most)")
    }
  }

  func run() throws {
    let scripts = try ShardScripts(
      try source.read(), engine: engine, count: shards, state: state.state, program: program,
      options: options, environment: ProcessInfo.processInfo.environment)
    let files = scripts.files
    try ScriptFolder.write(files, to: out)
    try Output.produce(files.map { "\(out)/\($0.name)\n" }.joined())
    if submit, let first = files.first { try ScriptFolder.run(first, in: out) }
  }
}

extension ShardScripts.Engine: ExpressibleByArgument {}
