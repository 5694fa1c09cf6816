extension RunRecord.EventCommandRecord {
  /// What went wrong, for people; `nil` if the command succeeded or is still running.
  package var failure: String? {
    let name = "on_events of session '\(session)': \(DisplayPath.shown(Array(command.utf8)))"
    if let problem { return "\(name) cannot be started: \(problem); it stays pending" }
    if let signal { return "\(name) was terminated by signal \(signal)" }
    guard let exitStatus, exitStatus != 0 else { return nil }
    return "\(name) exited with status \(exitStatus)"
  }
}
