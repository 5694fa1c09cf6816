import FerryJournal
import FerryPlan

/// Finds the rounds that no longer have open work. The history is not modified.
struct OpenRounds {
  let state: StateDirectory
  let history: RunHistory
  let environment: [String: String]

  /// The open round of a manifest.
  func open(_ manifest: String) throws -> ClosedRound? {
    guard let round = try history.latestRound(manifest: manifest), round.closedAt == nil else { return nil }
    return ClosedRound(manifest: manifest, round: round.number)
  }

  /// The open round of a manifest, unless a session other than the canceled ones still has work in it. The
  /// caller holds the locks of the canceled sessions, so the manifest is not running.
  func finished(_ manifest: String, cancelled sessions: Set<String>, at now: Instant) throws -> ClosedRound? {
    guard let round = try open(manifest), try !hasUnansweredSteps(round, outside: sessions) else {
      return nil
    }
    switch try KnownJobs(history: history, environment: environment).find(manifest) {
    case .job(let job): return try isThrough(job, sessions, at: now) ? round : nil
    case .unreadable: return try isOpenElsewhere(manifest, round.round, sessions) ? nil : round
    }
  }

  /// Whether the scheduler has no work left in the round once the sessions are canceled.
  private func isThrough(_ job: Job, _ sessions: Set<String>, at now: Instant) throws -> Bool {
    var options = RunPreview.Options()
    options.moment = now
    options.cancelled = job.plan.sessions.indices.filter {
      sessions.contains(job.plan.sessions[$0].identifier)
    }.map(SessionID.init)
    do {
      return try RunPreview.take(job, options, in: state, environment: environment) {
        $0.look.scheduler.isRoundThrough
      }
    } catch is ListingFailure {
      // An inaccessible folder in another session may become accessible again.
      return false
    } catch is JournalError {
      // So may the journal of another session.
      return false
    }
  }

  /// Whether the round has requests in other sessions that a killed run may have sent. The next run must report them as
  /// ambiguous.
  private func hasUnansweredSteps(_ round: ClosedRound, outside sessions: Set<String>) throws -> Bool {
    try mayBeInJournal(round.manifest, outside: sessions) { journal in
      try journal.unansweredSteps().contains { $0.manifest == round.manifest && $0.round == round.round }
    }
  }

  /// Whether the journal of another session has open items in this round.
  private func isOpenElsewhere(_ manifest: String, _ round: Int64, _ sessions: Set<String>) throws -> Bool {
    try mayBeInJournal(manifest, outside: sessions) { journal in
      let nodes = Set(try journal.nodes.filter { $0.manifest == manifest }.map(\.id))
      return try journal.countsByRound().contains {
        nodes.contains($0.node) && $0.round == round && !$0.state.isClosed
      }
    }
  }

  /// Whether the journal of another session contains something of a manifest. A journal that is missing or cannot be read
  /// may contain it if the manifest uses the session.
  private func mayBeInJournal(
    _ manifest: String, outside sessions: Set<String>, where isWanted: (SessionJournal) throws -> Bool
  ) throws -> Bool {
    let known = try history.knownJournals(locked: Set(state.lockedSessions()))
    let all = Set(try state.sessions()).union(known)
    let used = try KnownJobs(history: history, environment: environment).sessions(of: [manifest]) ?? all
    for identifier in all.subtracting(sessions).sorted() {
      do {
        let journal = try SessionJournal.openForReading(session: identifier, in: state, known: known)
        // The journal was only read, so closing it cannot lose data.
        defer { try? journal.close() }
        if try isWanted(journal) { return true }
      } catch is JournalError where used.contains(identifier) {
        return true
      } catch is JournalError {
        continue
      }
    }
    return false
  }
}

/// A round that a command closes. The JSON keys are a stable public interface.
package struct ClosedRound: Hashable, Codable, Sendable {
  package var manifest: String
  package var round: Int64
}
