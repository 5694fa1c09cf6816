import FerryJournal
import FerryPlan

/// The commands of the parts of a manifest, as an engine's shell runs them.
struct ShardCommands {
  let job: Job
  /// The number of shards.
  let count: Int
  /// The absolute path of the state folder.
  let state: String
  /// The folder with the state of the shards.
  let shards: String
  /// The path of the ferry program.
  let program: String

  /// - Throws: `JournalError` if the manifest's name cannot be a folder name.
  init(_ job: Job, count: Int, state: StateDirectory, program: String) throws(JournalError) {
    self.job = job
    self.count = count
    self.state = AbsolutePath.text(of: state.path)
    shards = AbsolutePath.text(of: try state.shards(of: job.plan.manifest))
    self.program = program
  }

  var name: String { job.plan.manifest }

  private var variables: [String] {
    job.variables.sorted { $0.key < $1.key }.flatMap { ["--var", "\($0.key)=\($0.value)"] }
  }

  private var manifest: String { AbsolutePath.text(of: job.path) }

  /// The words of `ferry run`, without `--shard`.
  var run: [String] { [program, "run", manifest, "--state", state, "--quiet"] + variables }

  /// A `ferry run` command of one part.
  ///
  /// - Parameter part: the value of `--shard`, as a shell word.
  func run(_ part: String) -> String { ShellWord.line(run) + " --shard " + part }

  /// The command that prints when a part next has work, in UTC.
  ///
  /// - Parameter folder: the name of the part's state folder, as a shell word.
  func next(_ folder: String) -> String {
    "TZ=UTC " + ShellWord.line([program, "next", manifest] + variables + ["--state", shards]) + "/" + folder
  }

  var merge: String { ShellWord.line([program, "report", "merge", shards]) }

  /// The work after the shards: requests, and the merged report. The shell exits with the exit code of the run or,
  /// if that is 0, of the merge.
  var finish: String {
    """
    \(run("finish/\(count)"))
    code=$?
    \(merge)
    merged=$?
    [ "$code" -ne 0 ] || code=$merged
    exit "$code"

    """
  }

  /// The cases of a shell's `case` for these exit codes.
  static func cases(_ codes: ExitCode...) -> String { codes.map { "\($0.rawValue)" }.joined(separator: "|") }
}
