import FerryJournal
import FerryManifest
import FerryPlan

/// The scripts that run a manifest's shards on an engine. The engine places, restarts and orders the shards.
package struct ShardScripts {
  package enum Engine: String, CaseIterable, Sendable {
    case slurm
    case kubernetes
    case parallel
  }

  /// The files; the first one starts all others.
  package let files: [ScriptFolder.File]

  /// - Parameters:
  ///   - count: the number of shards.
  ///   - state: the state folder; for Kubernetes, its path in the pods.
  ///   - program: the ferry program on the machines.
  ///   - options: additional options of sbatch for the array, or of parallel.
  /// - Throws: `UsageError` if the manifest cannot be divided, an option contains a line break, or a setting is missing
  ///   or has no effect.
  package init(
    _ job: Job, engine: Engine, count: Int, state: String?, program: String, options: [String],
    environment: [String: String]
  ) throws {
    _ = try job.divided(.setup(count: count))
    if let option = options.first(where: { $0.unicodeScalars.contains { $0.value < 0x20 } }) {
      throw UsageError(
        "--engine-option \(DisplayPath.shown(option)): an option must not contain a line break")
    }
    func commands(in state: StateDirectory) throws -> ShardCommands {
      try ShardCommands(job, count: count, state: state, program: program)
    }
    switch engine {
    case .slurm:
      let parts = try commands(in: StateDirectory(explicit: state, environment: environment))
      files = SlurmScripts(commands: parts, settings: job.manifest.engine.slurm, options: options).files
    case .parallel:
      let parts = try commands(in: StateDirectory(explicit: state, environment: environment))
      files = ParallelScripts(commands: parts, options: options).files
    case .kubernetes:
      guard options.isEmpty else {
        throw UsageError(
          "--engine-option has no effect with --engine kubernetes\n"
            + "help: set 'engine: { kubernetes: … }' in the manifest, or edit the files")
      }
      // The folder is in the pods, so neither this machine's environment nor its folders matter.
      let parts = try commands(in: StateDirectory(elsewhere: state ?? KubernetesSettings.defaultState))
      files = KubernetesObjects(commands: parts, settings: try KubernetesSettings(parts)).files
    }
  }
}
