extension RunRecord.CommandRecord {
  /// A description of the failure, for display; `nil` if the command succeeded or is still running.
  package var failure: String? {
    if let problem {
      return "\(title) cannot be started: \(problem)" + (session == nil ? "" : "; it stays pending")
    }
    if let signal { return "\(title) was terminated by signal \(signal)" }
    guard let exitStatus, exitStatus != 0 else { return nil }
    return "\(title) exited with status \(exitStatus)"
  }

  /// The key and the command, for display.
  package var title: String {
    (session.map { "on_events of session '\($0)'" } ?? "on_expiry")
      + ": \(DisplayPath.shown(Array(command.utf8)))"
  }
}
