import FerryJournal
import FerryPlan

/// `ferry journal prune`: removes old records.
package struct JournalPruning {
  /// The removed records. The JSON keys are a stable public interface.
  package struct Outcome: Encodable, Sendable {
    package struct Session: Encodable, Sendable {
      package var session: String
      /// The number of delivered items removed.
      package var items: Int
      /// The number of failed and canceled items removed.
      package var failedItems = 0
      /// The reason why no more items were removed: the journal cannot be read or written.
      package var problem: String?
    }

    package var version = 1
    package var runs = 0
    package var sessions: [Session] = []

    /// Whether each session's journal could be read and written.
    package var isWhole: Bool { sessions.allSatisfy { $0.problem == nil } }
  }

  package enum Ending: Sendable {
    case pruned(Outcome)
    /// Another process holds this session; nothing was removed.
    case inUse(SessionInUse)
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// Removes old runs and old closed items.
  ///
  /// - Parameters:
  ///   - runs: runs that ended longer ago than this are removed; the last run of each manifest remains.
  ///   - delivered: items that were delivered longer ago than this are removed. If such a file still exists, it is
  ///     sent again.
  ///   - failed: items that failed or were canceled longer ago than this are removed.
  ///   - sessions: the sessions whose items are removed; if empty, all.
  package func prune(
    runs: Duration?, delivered: Duration?, failed: Duration?, sessions: [String], patience: LockPatience
  ) throws -> Ending {
    var outcome = Outcome()
    if delivered != nil || failed != nil {
      // Also prune the sessions whose journals are lost, and prune the journals even if ferry.db is damaged.
      let registered = (try? RunHistory.knownJournals(in: state)) ?? []
      let known = try registered.union(state.sessions()).sorted()
      try SessionCatalog.checkJournals(sessions, among: known, in: state)
      let names = Set(sessions.isEmpty ? known : sessions).sorted()
      switch try SessionLocks.take(names, in: state, patience: patience, now: { LaunchClock.wallTime }) {
      case .inUse(let session): return .inUse(session)
      case .locked(let locks):
        defer { for lock in locks { lock.release() } }
        let now = LaunchClock.wallTime
        for name in names {
          var session = Outcome.Session(session: name, items: 0)
          do throws(JournalError) {
            (session.items, session.failedItems) = try forget(
              in: name, delivered: delivered.map { now.advanced(by: .zero - $0) },
              failed: failed.map { now.advanced(by: .zero - $0) }, at: now)
          } catch {
            // The other sessions are still pruned.
            session.problem = error.description
          }
          outcome.sessions.append(session)
        }
      }
    }
    guard let runs, JournalPruning.exists(state) else { return .pruned(outcome) }
    let now = LaunchClock.wallTime
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Every write is already synced.
    let retention = Retention(runs: runs)
    while true {
      let count = try retention.enforce(history, in: state, at: now)
      outcome.runs += count
      if count == 0 { return .pruned(outcome) }
    }
  }

  private func forget(
    in session: String, delivered: Instant?, failed: Instant?, at now: Instant
  ) throws(JournalError) -> (delivered: Int, failed: Int) {
    let found = try SessionJournal.openExisting(
      session: session, in: state, known: RunHistory.knownJournals(in: state), writtenBy: version, at: now)
    guard let journal = found else { return (0, 0) }
    defer { try? journal.close() }  // Every removal is already synced.
    return (
      try delivered.map { limit throws(JournalError) in try journal.forget([.done], before: limit) } ?? 0,
      try failed.map { limit throws(JournalError) in
        try journal.forget([.failed, .cancelled], before: limit)
      } ?? 0
    )
  }

  /// Whether a run has ever used this state folder. Pruning does not create a state folder.
  private static func exists(_ state: StateDirectory) -> Bool {
    // If the folder cannot be read, opening it reports the error.
    (try? RunHistory.openForReading(in: state).runs(limit: 1).isEmpty) != true
  }
}
