import FerryJournal
import FerryPlan

/// Another process uses one of the sessions.
struct OwnedElsewhere: Error {
  var session: SessionInUse
}

extension SessionLock.Holder {
  /// Whether the holder is a command, or has not written its entry yet. The entries of older versions of ferry do not
  /// contain the use, and count as those of runs.
  fileprivate var isCommand: Bool { use == .command || pid == nil }
}

/// The locks of a launch on its sessions.
struct HeldLocks {
  private let locks: [SessionLock]
  /// Locks that a stopped process of the same shard may still hold.
  private let late: [LateSessionLock]

  init(_ locks: [SessionLock], late: [LateSessionLock]) {
    (self.locks, self.late) = (locks, late)
  }

  /// Releases the sessions. A second call has no effect.
  func release() {
    for lock in locks { lock.release() }
    for lock in late { lock.release() }
  }
}

/// How a launch makes sure that no other process uses its sessions.
extension Launch {
  private enum Ownership {
    /// The kernel's locks on the sessions.
    case locks
    /// The leases of the journals. The processes of a part of a divided manifest may run on several machines, and a
    /// lock may belong to a stopped process whose lease has expired.
    case leases
  }

  private var ownership: Ownership { jobs.all.first?.part == nil ? .locks : .leases }

  /// Locks the sessions.
  func takeLocks(before deadline: Instant?) throws -> [SessionLock] {
    var patience = options.lockPatience
    if let deadline { patience.limit = min(patience.limit, clock.now.duration(to: deadline)) }
    let result = try SessionLocks.take(lockedSessions, in: state, for: .run, patience: patience) { clock.now }
    switch (result, ownership) {
    case (.locked(let locks), _): return locks
    case (.inUse(let session), .locks): throw OwnedElsewhere(session: session)
    case (.inUse, .leases):
      // The holder may be a stopped run, whose lease can be taken. A command has no lease.
      for session in lockedSessions {
        if let holder = try SessionLock.holder(session: session, in: state), holder.isCommand {
          throw OwnedElsewhere(session: SessionInUse(session: session, pid: holder.pid, since: holder.since))
        }
      }
      return []
    }
  }

  /// Waits for the locks that `takeLocks` did not take, because a stopped process of the same part keeps them. Called
  /// after the leases were taken.
  ///
  /// - Parameter locks: the result of `takeLocks`.
  func awaitLocks(missingFrom locks: [SessionLock]) throws(JournalError) -> [LateSessionLock] {
    switch ownership {
    case .leases where locks.isEmpty:
      var late: [LateSessionLock] = []
      for session in lockedSessions {
        late.append(try LateSessionLock(session: session, in: state) { [clock] in clock.now })
      }
      return late
    case .leases, .locks: return []
    }
  }

  /// Opens a database. If a process of the same part is stopped during a transaction, it keeps the database's files
  /// locked; the error is then `OwnedElsewhere`.
  func owned<Opened>(_ open: () throws(JournalError) -> Opened) throws -> Opened {
    do throws(JournalError) {
      return try open()
    } catch {
      switch ownership {
      case .leases where error.code == .busy:
        throw OwnedElsewhere(session: SessionInUse(session: lockedSessions.first ?? ""))
      case .leases, .locks: throw error
      }
    }
  }

  /// Closes earlier runs that were killed, if locks show that no other process uses the journals.
  func settleRunsBeforeJournals(
    _ history: RunHistory, at now: Instant, _ notice: (String) -> Void
  ) throws {
    switch ownership {
    case .locks:
      try closeDeadRuns(history, at: now, isAlive: \.isAlive, notice)
      if let session = try sessionOfLiveRun(history) { throw OwnedElsewhere(session: session) }
    case .leases: break
    }
  }

  /// Takes the leases of the journals, and closes all earlier runs, which have lost their leases. Returns no
  /// leases if locks suffice.
  func takeLeases(
    _ journals: SessionJournals, _ history: RunHistory, before deadline: Instant?, at now: Instant,
    _ notice: (String) -> Void
  ) throws -> [SessionLease] {
    switch ownership {
    case .locks: return []
    case .leases:
      let limit = options.lockPatience.limit
      let patience = deadline.map { min(limit, clock.now.duration(to: $0)) } ?? limit
      switch try ShardLeases.take(journals, for: options.lease, atMost: patience) {
      case .inUse(let session): throw OwnedElsewhere(session: session)
      case .taken(let leases):
        do {
          try closeDeadRuns(history, at: now, isAlive: { _ in false }, notice)
        } catch {
          for lease in leases { lease.release() }
          throw error
        }
        return leases
      }
    }
  }

  /// A session that another process still uses, although its lock was free because the lock file had been removed.
  private func sessionOfLiveRun(_ history: RunHistory) throws(JournalError) -> SessionInUse? {
    guard let session = lockedSessions.first,
      let run = try history.liveRun(of: Set(jobs.plan.manifests))
    else { return nil }
    // If that process holds another session's lock, its manifest used that session when the run began.
    for other in try state.lockedSessions() {
      if try SessionLock.holder(session: other, in: state)?.pid == run.process.pid { return nil }
    }
    return SessionInUse(session: session, pid: run.process.pid, since: run.startedAt)
  }

  /// Sessions with a durable journal; sorted, so that two processes never wait for each other.
  private var lockedSessions: [String] {
    jobs.plan.itemSessions.map { jobs.plan.sessions[$0.index] }.filter { $0.kind != .ephemeral }
      .map(\.identifier).sorted()
  }
}
