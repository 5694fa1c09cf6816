import FerryJournal
import FerryPlan

/// Takes the leases of a part's journals.
enum ShardLeases {
  case taken([SessionLease])
  /// Another process owns one of the journals; no lease was taken.
  case inUse(SessionInUse)

  /// - Parameters:
  ///   - duration: how long the leases last after they were last renewed.
  ///   - limit: how long to wait for a process that is alive.
  static func take(
    _ journals: SessionJournals, for duration: Duration, atMost limit: Duration
  ) throws(JournalError) -> ShardLeases {
    var leases: [SessionLease] = []
    for journal in journals.all.compactMap(\.self) where journal.isDurable {
      let attempt: SessionLease.Attempt
      do throws(JournalError) {
        attempt = try journal.acquireLease(for: duration, atMost: limit)
      } catch {
        for lease in leases { lease.release() }
        // A process that was stopped during a transaction keeps the file locked.
        guard error.code == .busy else { throw error }
        return .inUse(SessionInUse(session: journal.identifier))
      }
      switch attempt {
      case .acquired(let lease): leases.append(lease)
      case .held(let owner):
        for lease in leases { lease.release() }
        return .inUse(
          SessionInUse(session: journal.identifier, pid: owner?.process.pid, host: owner?.host))
      }
    }
    return .taken(leases)
  }
}
