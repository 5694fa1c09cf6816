extension RunRecord.EventCommandRecord {
  /// What went wrong, for people; `nil` if the command succeeded or is still running.
  package var failure: String? {
    let name = "on_events of the session \(session): \(DisplayPath.shown(Array(command.utf8)))"
    if let problem { return "\(name) cannot be started: \(problem); it stays owed" }
    if let signal { return "\(name) was ended by signal \(signal)" }
    guard let exitStatus, exitStatus != 0 else { return nil }
    return "\(name) exited with status \(exitStatus)"
  }
}
