import FerryJournal
import FerryPlan

/// The command that continues the remaining work of a run.
enum ResumeCommand {
  /// `ferry resume`, or the command that runs `setup` or `finish` again: `ferry resume` does not know which of these parts is
  /// to be run in their common state folder.
  ///
  /// - Parameters:
  ///   - part: the part that the run executed; `nil` if the manifest is not divided.
  ///   - state: the state folder of the run.
  static func line(
    _ part: ShardPart?, manifest path: String, variables: [String: String], in state: StateDirectory
  ) throws(JournalError) -> String {
    guard let part, part.shard == nil else { return state.command(["resume"]) }
    let values = variables.sorted { $0.key < $1.key }.map { (name: "--var", value: "\($0.key)=\($0.value)") }
    return try state.whole.command(
      ["run", AbsolutePath.text(of: path)], options: values + [("--shard", part.description)])
  }

  /// The command that continues a run that is recorded in the history.
  static func line(
    of run: RunRow, _ history: RunHistory, in state: StateDirectory
  ) throws(JournalError) -> String {
    // ferry wrote this value; any other value does not identify a part.
    let part = run.part.flatMap { try? ShardArgument.part($0, environment: [:]) }
    let job = try run.rounds.first.flatMap { round throws(JournalError) in
      try history.job(manifest: round.manifest)
    }
    guard let job else { return state.command(["resume"]) }
    return try line(part, manifest: job.path, variables: job.variables, in: state)
  }
}
