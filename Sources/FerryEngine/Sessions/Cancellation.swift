import FerryJournal
import FerryPlan
import Foundation

/// `ferry cancel`: ends what is open in sessions, or asks the process that holds one to.
package struct Cancellation {
  package enum Target: Sendable {
    /// Whatever the session of this identifier carries.
    case session(String)
    /// What this manifest has in its sessions.
    case manifest(Job)
  }

  /// What became of one session. Its keys are an interface.
  package struct Outcome: Encodable, Sendable {
    /// Raw values are an interface.
    package enum Result: String, Encodable, Sendable {
      case cancelled
      /// The session's journal was removed (`force_quit: remove_session`).
      case removed
      /// A process holds it and was told.
      case told
      case nothing
    }

    package var session: String
    package var result: Result
    package var items = 0
    /// Items whose unrepeatable step may have reached the server: a person decides.
    package var ambiguous = 0
    /// Files that were submitted and not taken into the queue yet.
    package var submitted = 0
    package var closedRounds: [ClosedRound] = []
    package var pid: Int32?
  }

  /// A session, and whose items of it are meant; all where the manifest is `nil`.
  private struct Wish {
    var session: String
    var manifest: String?
    var job: Job?
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// - Parameter finishing: what a holder is asked for: to finish what runs and take nothing new.
  package func cancel(_ targets: [Target], finishing: Bool) throws -> [Outcome] {
    let now = LaunchClock.wallTime
    let look = try Inbox.openForReading(in: state)
    // It was only read.
    defer { try? look.close() }
    let catalog = SessionCatalog(state: state, inbox: look)
    let wishes = try wishes(targets, catalog)
    guard try wishes.contains(where: { try catalog.knows($0.session) }) else {
      return wishes.map { Outcome(session: $0.session, result: .nothing) }
    }
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // Each of its writes is synced.
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Likewise.
    var locks: [String: SessionLock] = [:]
    defer { for lock in locks.values { lock.release() } }
    var outcomes: [Outcome] = []
    var manifests: Set<String> = []
    for wish in wishes {
      guard try catalog.knows(wish.session) else {
        outcomes.append(Outcome(session: wish.session, result: .nothing))
        continue
      }
      if locks[wish.session] == nil {
        switch try lock(wish, finishing: finishing, inbox, at: now) {
        case .acquired(let lock): locks[wish.session] = lock
        case .held(let pid, _):
          outcomes.append(Outcome(session: wish.session, result: .told, pid: pid))
          continue
        }
      }
      let (outcome, names) = try end(wish, history, inbox, at: now)
      outcomes.append(outcome)
      manifests.formUnion(names)
    }
    try closeRounds(of: manifests, &outcomes, history, at: now)
    return outcomes
  }

  private func wishes(_ targets: [Target], _ catalog: SessionCatalog) throws -> [Wish] {
    var wishes: [Wish] = []
    for target in targets {
      switch target {
      case .session(let name):
        try catalog.check([name])
        wishes.append(Wish(session: name))
      case .manifest(let job):
        for home in Launch.homes(of: job.plan) where job.plan.sessions[home.index].kind != .ephemeral {
          wishes.append(
            Wish(
              session: job.plan.sessions[home.index].identifier, manifest: job.plan.manifest, job: job))
        }
      }
    }
    // A session that is named as a whole is not also cancelled in part; each is locked once.
    var seen: Set<String> = []
    return wishes.sorted { ($0.session, $0.manifest ?? "") < ($1.session, $1.manifest ?? "") }
      .filter { wish in
        let isWhole = wishes.contains { $0.session == wish.session && $0.manifest == nil }
        let key = isWhole ? wish.session : "\(wish.session) \(wish.manifest ?? "")"
        return seen.insert(key).inserted
      }
  }

  /// Takes the session, or leaves a note for its holder. One that let go in between is not left a note that
  /// would cancel the next run.
  private func lock(
    _ wish: Wish, finishing: Bool, _ inbox: Inbox, at now: Instant
  ) throws -> SessionLock.Attempt {
    let first = try SessionLock.try(session: wish.session, in: state, at: now)
    guard case .held = first else { return first }
    let note = try inbox.leave(
      Note(
        session: wish.session, kind: finishing ? .finish : .cancel, manifest: wish.manifest, createdAt: now))
    let second = try SessionLock.try(session: wish.session, in: state, at: now)
    if case .acquired = second { try inbox.remove([note]) }
    return second
  }

  /// Ends what is open in a session whose lock is held here.
  private func end(
    _ wish: Wish, _ history: RunHistory, _ inbox: Inbox, at now: Instant
  ) throws -> (Outcome, manifests: Set<String>) {
    var outcome = Outcome(session: wish.session, result: .cancelled)
    let notes = try inbox.notes(session: wish.session).filter {
      wish.manifest == nil || $0.manifest == wish.manifest
    }
    var manifests = Set(notes.compactMap(\.manifest) + [wish.manifest].compactMap(\.self))
    if state.sessions().contains(wish.session) {
      let journal = try SessionJournal.open(session: wish.session, in: state, writtenBy: version, at: now)
      defer { try? journal.close() }  // What was ended is synced.
      let all = Set(try journal.nodes.map(\.manifest))
      if wish.manifest == nil { manifests.formUnion(all) }
      let before = try ambiguous(journal)
      outcome.items = try journal.cancelOpen(manifest: wish.manifest, reason: .cancelled, at: now)
      outcome.ambiguous = try ambiguous(journal) - before
      if try vanishes(wish, all, history) { outcome.result = .removed }
    }
    if outcome.result == .removed { try SessionJournal.remove(session: wish.session, in: state) }
    outcome.submitted = notes.reduce(0) { $0 + $1.paths.count }
    try inbox.remove(notes.map(\.id))
    return (outcome, manifests)
  }

  private func ambiguous(_ journal: SessionJournal) throws(JournalError) -> Int {
    try journal.countsByRound().reduce(0) { $0 + ($1.state == .ambiguous ? $1.count : 0) }
  }

  /// Whether the profile lets the session vanish: each manifest in it that can be read says so.
  private func vanishes(_ wish: Wish, _ manifests: Set<String>, _ history: RunHistory) throws -> Bool {
    var words = [wish.job].compactMap(\.self).map(\.plan.policies.forceQuit)
    for manifest in manifests where manifest != wish.manifest {
      if case .job(let job) = try KnownJobs(history: history, environment: environment).find(manifest) {
        words.append(job.plan.policies.forceQuit)
      }
    }
    return !words.isEmpty && words.allSatisfy { $0 == .removeSession }
  }

  private func closeRounds(
    of manifests: Set<String>, _ outcomes: inout [Outcome], _ history: RunHistory, at now: Instant
  ) throws {
    let ended = Set(outcomes.filter { $0.result == .cancelled || $0.result == .removed }.map(\.session))
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    for manifest in manifests.sorted() {
      guard let closed = try rounds.close(manifest, cancelled: ended, at: now) else { continue }
      // It is told with the first session that was ended.
      if let first = outcomes.firstIndex(where: { ended.contains($0.session) }) {
        outcomes[first].closedRounds.append(closed)
      }
    }
  }
}
