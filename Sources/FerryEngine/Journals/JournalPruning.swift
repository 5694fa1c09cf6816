import FerryJournal
import FerryPlan

/// `ferry journal prune`: forgets what is old.
package struct JournalPruning {
  /// What was forgotten. Its keys are an interface.
  package struct Outcome: Encodable, Sendable {
    package struct Session: Encodable, Sendable {
      package var session: String
      /// Items that were delivered.
      package var items: Int
      /// Why no more of them were: its journal cannot be read or written.
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
    /// Another process has this one; nothing was forgotten.
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

  /// - Parameters:
  ///   - runs: runs that ended longer ago are forgotten; the last of each manifest stays.
  ///   - delivered: items that were delivered longer ago are forgotten. A file that is there still is sent again.
  ///   - sessions: whose items; all where there are none.
  package func prune(
    runs: Duration?, delivered: Duration?, sessions: [String], patience: LockPatience
  ) throws -> Ending {
    var outcome = Outcome()
    if let delivered {
      // One whose journal is lost is not passed over; a damaged ferry.db keeps no journal from being pruned.
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
            session.items = try forgetDelivered(
              in: name, before: now.advanced(by: .zero - delivered), at: now)
          } catch {
            // The others are pruned all the same.
            session.problem = error.description
          }
          outcome.sessions.append(session)
        }
      }
    }
    guard let runs, JournalPruning.exists(state) else { return .pruned(outcome) }
    let now = LaunchClock.wallTime
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Each of its writes is synced.
    let retention = Retention(runs: runs)
    while true {
      let count = try retention.enforce(history, in: state, at: now)
      outcome.runs += count
      if count == 0 { return .pruned(outcome) }
    }
  }

  private func forgetDelivered(
    in session: String, before limit: Instant, at now: Instant
  ) throws(JournalError) -> Int {
    let found = try SessionJournal.openExisting(
      session: session, in: state, known: RunHistory.knownJournals(in: state), writtenBy: version, at: now)
    guard let journal = found else { return 0 }
    defer { try? journal.close() }  // What was forgotten is synced.
    return try journal.forgetDelivered(before: limit)
  }

  /// Whether anything was run with this state: pruning creates none.
  private static func exists(_ state: StateDirectory) -> Bool {
    // One that cannot be looked at is told when it is opened.
    (try? RunHistory.openForReading(in: state).runs(limit: 1).isEmpty) != true
  }
}
