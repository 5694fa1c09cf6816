import FerryJournal
import FerryPlan

/// The scripts that run a manifest's shards on an engine. The engine places, restarts and orders the shards.
package struct ShardScripts {
  package enum Engine: String, CaseIterable, Sendable {
    case slurm
    case parallel
  }

  package struct File: Sendable {
    package var name: String
    package var text: String
  }

  private let job: Job
  private let engine: Engine
  private let count: Int
  /// The absolute path of the state folder.
  private let state: String
  /// The folder with the state of the shards.
  private let shards: String
  /// The path of the ferry program.
  private let program: String
  /// Options of sbatch, or of parallel.
  private let options: [String]

  /// - Parameters:
  ///   - count: the number of shards.
  ///   - program: the ferry program on the machines.
  ///   - options: additional options of sbatch for the array, or of parallel.
  /// - Throws: `UsageError` if the manifest cannot be divided, or an option contains a line break.
  package init(
    _ job: Job, engine: Engine, count: Int, state: String?, program: String, options: [String],
    environment: [String: String]
  ) throws {
    _ = try job.divided(.setup(count: count))
    if let option = options.first(where: { $0.unicodeScalars.contains { $0.value < 0x20 } }) {
      throw UsageError(
        "--engine-option \(DisplayPath.shown(option)): an option must not contain a line break")
    }
    self.job = job
    self.engine = engine
    self.count = count
    let path = AbsolutePath.text(of: try StateDirectory(explicit: state, environment: environment).path)
    self.state = path
    shards = try StateDirectory(explicit: path, environment: [:]).shards(of: job.plan.manifest)
    self.program = program
    self.options = options
  }

  /// The files; the first one starts all others.
  package var files: [File] {
    switch engine {
    case .slurm: slurm
    case .parallel: parallel
    }
  }

  /// A `ferry run` command of one part.
  ///
  /// - Parameter part: the value of `--shard`, as a shell word.
  private func run(_ part: String) -> String {
    let variables = job.variables.sorted { $0.key < $1.key }.flatMap { ["--var", "\($0.key)=\($0.value)"] }
    let words = [program, "run", AbsolutePath.text(of: job.path), "--state", state, "--quiet"] + variables
    return ShellWord.line(words) + " --shard " + part
  }

  private var merge: String {
    ShellWord.line([program, "report", "merge", shards])
  }

  private var name: String { job.plan.manifest }

  /// The cases of a shell's `case` for these exit codes.
  private static func cases(_ codes: ExitCode...) -> String {
    codes.map { "\($0.rawValue)" }.joined(separator: "|")
  }

  // MARK: Slurm

  private var slurm: [File] {
    let submit = """
      #!/bin/bash
      # Submits the jobs: the work before the shards, the shards, and the work after them.
      set -eu
      cd "$(dirname "$0")"
      setup=$(sbatch --parsable setup.sbatch)
      shards=$(sbatch --parsable --kill-on-invalid-dep=yes --dependency="afterok:${setup%%;*}" shards.sbatch)
      finish=$(sbatch --parsable --dependency="afterany:${shards%%;*}" finish.sbatch)
      echo "submitted jobs ${setup%%;*}, ${shards%%;*} and ${finish%%;*}"

      """
    let setup = """
      #!/bin/bash
      #SBATCH --job-name=ferry-\(name)-setup
      #SBATCH --requeue
      exec \(run("setup/\(count)"))

      """
    let finish = """
      #!/bin/bash
      #SBATCH --job-name=ferry-\(name)-finish
      #SBATCH --requeue
      \(run("finish/\(count)"))
      code=$?
      \(merge)
      merged=$?
      [ "$code" -ne 0 ] || code=$merged
      exit "$code"

      """
    let shards =
      "#!/bin/bash\n"
      + (["--job-name=ferry-\(name)", "--array=1-\(count)", "--requeue", "--open-mode=append"]
      // Slurm sends the signal up to 60 s early, so ferry has at least a minute to save its state.
      + ["--signal=B:TERM@120"] + options).map { "#SBATCH \($0)\n" }.joined()
        + #"""
        # SIGTERM comes before the time limit. ferry then saves its state, and the task is requeued.
        ferry=
        stopped=
        trap 'stopped=1; [ -z "$ferry" ] || kill -TERM "$ferry"' TERM

        """#
      + run("\"$SLURM_ARRAY_TASK_ID/\(count)\"") + " &\n"
        + #"""
        ferry=$!
        wait "$ferry"
        code=$?
        while [ -n "$stopped" ] && kill -0 "$ferry" 2>/dev/null; do
          wait "$ferry"
          code=$?
        done
        # Temporary failures, another process that owns the shard, work that has to wait, and the time limit.
        case $code in

        """#
      + "  \(Self.cases(.temporary, .sessionInUse, .deferred, .cutOff, .terminated)))\n"
        + #"""
            if [ "${SLURM_RESTART_COUNT:-0}" -lt "${FERRY_RESTARTS:-20}" ]; then
              scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
            fi ;;
        esac
        exit "$code"

        """#
    return [
      File(name: "submit.sh", text: submit), File(name: "setup.sbatch", text: setup),
      File(name: "shards.sbatch", text: shards), File(name: "finish.sbatch", text: finish),
    ]
  }

  // MARK: GNU parallel

  private var parallel: [File] {
    let shard = """
      #!/bin/bash
      # Runs the shard $1, up to five times.
      for attempt in 1 2 3 4 5; do
        \(run("\"$1/\(count)\""))
        code=$?
        case $code in \(Self.cases(.temporary, .sessionInUse, .cutOff))) sleep "$attempt" ;; *) break ;; esac
      done
      exit "$code"

      """
    let words = (["--joblog", "joblog", "--resume-failed"] + options).map(ShellWord.quoted)
    let run = """
      #!/bin/bash
      # Runs the work before the shards, the shards, and the work after them. Run it again to repeat what failed.
      cd "$(dirname "$0")" || exit
      \(self.run("setup/\(count)")) || exit
      seq \(count) | parallel \(words.joined(separator: " ")) "$PWD/shard.sh" {}
      \(self.run("finish/\(count)"))
      code=$?
      \(merge)
      merged=$?
      [ "$code" -ne 0 ] || code=$merged
      exit "$code"

      """
    return [File(name: "run.sh", text: run), File(name: "shard.sh", text: shard)]
  }
}
