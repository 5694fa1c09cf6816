import FerryJournal
import FerryPlan

/// A session that another process holds.
package struct SessionInUse: Hashable, Sendable {
  package var session: String
  /// `pid` and `since` are unknown until the holder has written them.
  package var pid: Int32?
  package var since: Instant?
  /// The machine of a process that owns a shard; `nil` for this machine.
  package var host: String?
}

/// The limit on the total wait for sessions that other processes hold.
package struct LockPatience: Sendable {
  /// The maximum total wait. With 0, the command does not wait.
  package var limit: Duration
  /// Called before the command waits for a session.
  package var tell: @Sendable (SessionInUse) -> Void

  package init(limit: Duration = .zero, tell: @escaping @Sendable (SessionInUse) -> Void = { _ in }) {
    self.limit = limit
    self.tell = tell
  }
}

/// The result of locking several sessions.
enum SessionLocks {
  case locked([SessionLock])
  /// Another process holds a session; no session is locked.
  case inUse(SessionInUse)

  /// Locks all of the sessions, or none of them.
  ///
  /// - Parameter sessions: sorted, so that two processes never wait for each other.
  static func take(
    _ sessions: [String], in state: StateDirectory, for use: SessionLock.Use = .command,
    patience: LockPatience, now: () -> Instant
  ) throws(JournalError) -> SessionLocks {
    let start = ContinuousClock.now
    var locks: [SessionLock] = []
    for session in sessions {
      let attempt = try SessionLock.wait(
        session: session, in: state, for: use, atMost: patience.limit - start.duration(to: .now), now: now
      ) { patience.tell(SessionInUse(session: session, pid: $0.pid, since: $0.since)) }
      switch attempt {
      case .acquired(let lock): locks.append(lock)
      case .held(let pid, let since):
        for lock in locks { lock.release() }
        return .inUse(SessionInUse(session: session, pid: pid, since: since))
      }
    }
    return .locked(locks)
  }
}
