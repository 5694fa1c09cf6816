import FerryJournal
import FerryPlan

/// `ferry journal accept-loss`: allows a session whose journal has lost data to continue.
package struct LossAcceptance {
  /// The accepted loss. The JSON keys are a stable public interface.
  package struct Outcome: Encodable, Sendable {
    package struct Session: Encodable, Sendable {
      package var session: String
      /// Whether the whole journal is lost. If so, the next run creates an empty one.
      package var journalLost: Bool
      /// The number of transactions missing from the journal; absent if the whole journal is lost.
      package var transactionsLost: Int64?
    }

    package var version = 1
    package var sessions: [Session] = []
  }

  package enum Ending: Sendable {
    case accepted(Outcome)
    /// Another process holds this session; nothing was accepted.
    case inUse(SessionInUse)
  }

  private let state: StateDirectory
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.version = version
  }

  /// Accepts the loss of transactions in the journals of the sessions.
  ///
  /// - Parameter sessions: identifiers, each of a known session.
  package func accept(sessions: [String], patience: LockPatience) throws -> Ending {
    let names = Set(sessions).sorted()
    let known = try RunHistory.knownJournals(in: state).union(state.sessions())
    try SessionCatalog.checkJournals(names, among: known.sorted(), in: state)
    switch try SessionLocks.take(names, in: state, patience: patience, now: { LaunchClock.wallTime }) {
    case .inUse(let session): return .inUse(session)
    case .locked(let locks):
      defer { for lock in locks { lock.release() } }
      return .accepted(Outcome(sessions: try names.map { try accept($0) }))
    }
  }

  private func accept(_ session: String) throws -> Outcome.Session {
    let now = LaunchClock.wallTime
    if try state.presence(ofSession: session) != .there {
      // Remove the session from the history, because a run rejects a registered session whose journal is missing.
      let history = try RunHistory.open(in: state, writtenBy: version, at: now)
      defer { try? history.close() }  // The write is already synced.
      try history.forget(session: session)
    }
    switch try SessionJournal.acceptLoss(session: session, in: state, writtenBy: version, at: now) {
    case .journal: return .init(session: session, journalLost: true)
    case .transactions(let count): return .init(session: session, journalLost: false, transactionsLost: count)
    case nil: return .init(session: session, journalLost: false, transactionsLost: 0)
    }
  }
}
