import FerryPlan

extension RunRow {
  /// Whether the run's process has ended without recording the run's end.
  ///
  /// Both the process and the locks of the sessions are checked: a process in another container on this machine appears
  /// dead, but holds its locks.
  package func isInterrupted(in directory: StateDirectory) throws(JournalError) -> Bool {
    switch state {
    case .ended: return false
    case .interrupted: return true
    case .running: break
    }
    guard !process.isAlive else { return false }
    for session in try directory.lockedSessions() {
      guard let holder = try SessionLock.holder(session: session, in: directory), holder.pid == process.pid
      else { continue }
      // A run acquires its locks before it begins. A later lock belongs to another process with the same pid.
      if holder.since.map({ $0 <= startedAt }) ?? true { return false }
    }
    return true
  }
}

extension RunHistory {
  /// The last run of a manifest, if it was interrupted and its round is still open. The next run resumes that round.
  package func interruptedRun(
    of manifest: String, in directory: StateDirectory
  ) throws(JournalError) -> RunRow? {
    guard let run = try lastRun(of: manifest), let round = try latestRound(manifest: manifest),
      round.closedAt == nil,
      run.rounds.contains(where: { $0.manifest == manifest && $0.number == round.number })
    else { return nil }
    return try run.isInterrupted(in: directory) ? run : nil
  }
}
