import FerryJournal
import FerryPlan

/// A session that another process has.
package struct SessionInUse: Hashable, Sendable {
  package var session: String
  /// Neither is known in the moment before the holder has written it.
  package var pid: Int32?
  package var since: Instant?
}

/// How long a command waits for sessions that other processes have: for all of them together.
package struct LockPatience: Sendable {
  /// 0: it does not wait.
  package var limit: Duration
  /// Called before it waits for one.
  package var tell: @Sendable (SessionInUse) -> Void

  package init(limit: Duration = .zero, tell: @escaping @Sendable (SessionInUse) -> Void = { _ in }) {
    self.limit = limit
    self.tell = tell
  }
}

/// The locks of several sessions.
enum SessionLocks {
  case locked([SessionLock])
  /// None is held.
  case inUse(SessionInUse)

  /// - Parameter sessions: sorted, so that two processes never wait for each other.
  static func take(
    _ sessions: [String], in state: StateDirectory, patience: LockPatience, now: () -> Instant
  ) throws(JournalError) -> SessionLocks {
    let start = ContinuousClock.now
    var locks: [SessionLock] = []
    for session in sessions {
      let attempt = try SessionLock.wait(
        session: session, in: state, atMost: patience.limit - start.duration(to: .now), now: now
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
