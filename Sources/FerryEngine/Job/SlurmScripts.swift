import FerryManifest
import FerryPlan

/// The scripts that run shards as a job array of Slurm, with the jobs before and after it.
struct SlurmScripts {
  let commands: ShardCommands
  let settings: EngineSettings.Slurm
  /// Further options of sbatch for the array. They override the settings.
  let options: [String]

  var files: [ScriptFolder.File] { [submit, setup, shards, finish] }

  private var submit: ScriptFolder.File {
    ScriptFolder.File(
      "submit.sh",
      text: """
        #!/bin/bash
        # Submits the jobs: the work before the shards, the shards, and the work after them.
        set -eu
        CDPATH= cd -- "$(dirname -- "$0")"
        command -v sbatch >/dev/null || { echo "submit.sh: sbatch was not found in PATH" >&2; exit 2; }
        setup=$(sbatch --parsable setup.sbatch)
        shards=$(sbatch --parsable --kill-on-invalid-dep=yes --dependency="afterok:${setup%%;*}" shards.sbatch)
        finish=$(sbatch --parsable --dependency="afterany:${shards%%;*}" finish.sbatch)
        echo "submitted jobs ${setup%%;*}, ${shards%%;*} and ${finish%%;*}"

        """)
  }

  private var setup: ScriptFolder.File {
    ScriptFolder.File(
      "setup.sbatch",
      text: head("-setup", ["--open-mode=append", signal])
        + requeued(
          commands.run("setup/\(commands.count)"), folder: "once-of-\(commands.count)", job: "$SLURM_JOB_ID"))
  }

  private var shards: ScriptFolder.File {
    var resources = ["--array=1-\(commands.count)", "--open-mode=append", signal]
    if let time = settings.time { resources.append("--time=\(Self.text(of: time))") }
    if let cpus = settings.cpus { resources.append("--cpus-per-task=\(cpus)") }
    return ScriptFolder.File(
      "shards.sbatch",
      text: head("", resources + options)
        + requeued(
          commands.run("\"$SLURM_ARRAY_TASK_ID/\(commands.count)\""),
          folder: "\"$SLURM_ARRAY_TASK_ID-of-\(commands.count)\"",
          job: "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"))
  }

  private var finish: ScriptFolder.File {
    ScriptFolder.File("finish.sbatch", text: head("-finish", []) + commands.finish)
  }

  /// Slurm sends the signal up to 60 s early, so ferry has two to three minutes to save its state.
  private var signal: String { "--signal=B:USR1@120" }

  private func head(_ suffix: String, _ options: [String]) -> String {
    let partition = settings.partition.map { ["--partition=\($0)"] } ?? []
    let all = ["--job-name=ferry-\(commands.name)\(suffix)", "--requeue"] + partition + options
    return "#!/bin/bash\n" + all.map { "#SBATCH \($0)\n" }.joined()
  }

  /// A time limit as `HH:MM:SS`, rounded down to whole minutes.
  private static func text(of time: Duration) -> String {
    let minutes = time.components.seconds / 60
    func digits(_ number: Int64) -> String { (number < 10 ? "0" : "") + "\(number)" }
    return "\(digits(minutes / 60)):\(digits(minutes % 60)):00"
  }

  /// Runs a part, and requeues its job if the part can continue.
  ///
  /// - Parameters:
  ///   - folder: the name of the part's state folder, as a shell word.
  ///   - job: the job's ID, in a shell word.
  private func requeued(_ run: String, folder: String, job: String) -> String {
    #"""
    # Slurm sends SIGUSR1 before the time limit, and SIGTERM if the job is canceled. In both cases, ferry saves its state.
    ferry= ended=
    stop() { [ -z "$ferry" ] || kill -TERM "$ferry"; }
    trap 'ended=limit; stop' USR1
    trap 'ended=canceled; stop' TERM

    """# + run + " &\n"
      + #"""
      ferry=$!
      wait "$ferry"
      code=$?
      # A signal ends the wait, but not ferry.
      while [ -n "$ended" ] && kill -0 "$ferry" 2>/dev/null; do wait "$ferry"; done
      [ -z "$ended" ] || { wait "$ferry"; code=$?; }
      [ "$ended:$code" != \#(Self.stoppedByLimit) ] || code=\#(ExitCode.cutOff.rawValue)
      start=
      case $code in
        # Temporary failures, another process that owns the shard, the time limit, and a killed process.
        \#(ShardCommands.cases(.temporary, .sessionInUse, .cutOff, .terminated))|137)
          [ "${SLURM_RESTART_COUNT:-0}" -lt "${FERRY_RESTARTS:-20}" ] || exit "$code" ;;
        # The work has to wait for a time, or for a change such as another network.
        \#(ShardCommands.cases(.deferred)))
          start=now+900
          next=$(\#(commands.next(folder)))
          case $next in [0-9]*) start=$(date -d "$next" +%Y-%m-%dT%H:%M:%S) ;; esac ;;
        *) exit "$code" ;;
      esac
      [ "$ended" != canceled ] || exit "$code"
      # Slurm sends SIGTERM to a job that it requeues. The start time can be changed only after that.
      trap '' TERM
      scontrol requeue "\#(job)" || exit "$code"
      [ -z "$start" ] || scontrol update JobId="\#(job)" StartTime="$start"
      exit "$code"

      """#
  }

  private static let stoppedByLimit = "limit:\(ExitCode.terminated.rawValue)"
}
