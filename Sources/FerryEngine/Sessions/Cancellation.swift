import FerryJournal
import FerryPlan
import Foundation

/// `ferry cancel`: cancels open work in sessions. If a process holds a session, the command asks that process to cancel
/// the work.
package struct Cancellation {
  package enum Target: Sendable {
    /// All work in the session with this identifier.
    case session(String)
    /// All work of this manifest in its sessions.
    case manifest(Job)
  }

  /// The result for one session. The JSON keys are a stable public interface.
  package struct Outcome: Encodable, Sendable {
    /// The raw values are a stable public interface.
    package enum Result: String, Encodable, Sendable {
      case cancelled
      /// The session's journal was removed (`force_quit: remove_session`).
      case removed
      /// A process holds the session; a note was written for it.
      case told
      case nothing
    }

    package var session: String
    package var result: Result
    package var items = 0
    /// The number of items, requests and fetches whose unrepeatable step may have reached the server; the user must resolve
    /// them.
    package var ambiguous = 0
    /// The number of items, requests and fetches whose requests may have been executed, because of which the session was
    /// not removed; `nil` if it was removed, or was not to be removed.
    package var undecided: Int?
    /// The number of files that were submitted but not yet queued.
    package var submitted = 0
    package var closedRounds: [ClosedRound] = []
    package var pid: Int32?
    /// `true` if ferry waited for the process that held the session, and that process has released the session.
    package var released: Bool?
  }

  /// A session whose holder received a note, and the ID of the note.
  private struct Told {
    var wish: CancelWish
    var note: Int64
    var outcome: Outcome
  }

  private let state: StateDirectory
  private let environment: [String: String]
  private let version: String

  package init(state: String?, environment: [String: String], version: String) throws {
    self.state = try StateDirectory(explicit: state, environment: environment)
    self.environment = environment
    self.version = version
  }

  /// The way in which a process that holds a session ends its work.
  package enum Manner: Sendable {
    /// The process cancels the work at once.
    case atOnce
    /// The process completes the items that it has started.
    case finishing
    /// The process completes everything that it has queued. If no process holds the session, nothing is
    /// changed.
    case draining

    fileprivate var kind: Note.Kind {
      switch self {
      case .atOnce: .cancel
      case .finishing: .finish
      case .draining: .drain
      }
    }
  }

  /// Cancels the work of the targets. If another process holds a session, this function asks that process to cancel.
  ///
  /// - Parameters:
  ///   - reason: the text of `--reason`, which is recorded with the canceled work.
  ///   - patience: how long to wait for holders to release sessions.
  /// - Returns: the outcomes, and the sessions that were still held when the wait ended.
  package func cancel(
    _ targets: [Target], _ manner: Manner = .atOnce, reason: CancelReason? = nil,
    patience: LockPatience = LockPatience()
  ) throws -> (outcomes: [Outcome], inUse: [SessionInUse]) {
    var (wishes, outcomes) = try wishes(targets, reason)
    var told: [Told] = []
    // If a holder releases its session while the note is written, this process cancels the work itself. With
    // `.draining`, the work remains for the next run.
    if manner == .draining {
      (told, outcomes) = try drain(wishes, outcomes)
      wishes = []
    }
    for attempt in 1...3 where !wishes.isEmpty {
      let now = LaunchClock.wallTime
      var ending = CancelledSessions(state: state, environment: environment, version: version, now: now)
      defer { ending.release() }
      let held = try ending.end(wishes)
      outcomes += ending.outcomes
      let (holders, freed) = try tell(held, manner, mayReturn: attempt < 3, at: now)
      told += holders
      wishes = freed
    }
    let inUse = try wait(for: &told, manner, patience)
    outcomes += told.map(\.outcome)
    return (outcomes.sorted { $0.session < $1.session }, inUse)
  }

  /// Waits until holders have released their sessions. If a holder was killed before it read its note, the
  /// note is executed here.
  private func wait(
    for told: inout [Told], _ manner: Manner, _ patience: LockPatience
  ) throws -> [SessionInUse] {
    guard patience.limit > .zero else { return [] }
    var inUse: [SessionInUse] = []
    let start = ContinuousClock.now
    for session in Set(told.map(\.wish.session)).sorted() {
      var rest = patience
      rest.limit -= start.duration(to: .now)
      switch try SessionLocks.take([session], in: state, patience: rest, now: { LaunchClock.wallTime }) {
      case .inUse(let holder): inUse.append(holder)
      case .locked(let locks):
        var ending = CancelledSessions(
          state: state, environment: environment, version: version, now: LaunchClock.wallTime)
        ending.take(locks, of: session)
        defer { ending.release() }
        let unread = try unreadNotes(of: session)
        let own = told.indices.filter { told[$0].wish.session == session }
        for index in own { told[index].outcome.released = true }
        // The next run completes the queued work.
        guard manner != .draining else { continue }
        let left = own.filter { unread.contains(told[$0].note) }
        _ = try ending.end(left.map { told[$0].wish })
        for (index, outcome) in zip(left, ending.outcomes) {
          let pid = told[index].outcome.pid
          told[index].outcome = outcome
          told[index].outcome.pid = pid
          told[index].outcome.released = true
        }
      }
    }
    return inUse
  }

  /// Asks the holders of sessions to complete their queued work. If a session has no holder, that work remains for the
  /// next run.
  private func drain(_ wishes: [CancelWish], _ nothing: [Outcome]) throws -> ([Told], [Outcome]) {
    var held: [(wish: CancelWish, pid: Int32?)] = []
    var outcomes = nothing
    for wish in wishes {
      if let holder = try SessionLock.holder(session: wish.session, in: state) {
        held.append((wish, holder.pid))
      } else {
        outcomes.append(Outcome(session: wish.session, result: .nothing))
      }
    }
    let (told, freed) = try tell(held, .draining, mayReturn: true, at: LaunchClock.wallTime)
    return (told, outcomes + freed.map { Outcome(session: $0.session, result: .nothing) })
  }

  private func unreadNotes(of session: String) throws -> Set<Int64> {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    return Set(try inbox.notes(session: session).map(\.id))
  }

  /// The sessions to cancel, and the outcomes of those with nothing to cancel.
  private func wishes(_ targets: [Target], _ reason: CancelReason?) throws -> (
    [CancelWish], nothing: [Outcome]
  ) {
    let inbox = try Inbox.openForReading(in: state)
    // The inbox was only read, so closing it cannot lose data.
    defer { try? inbox.close() }
    let catalog = SessionCatalog(state: state, inbox: inbox)
    var all: [CancelWish] = []
    for target in targets {
      switch target {
      case .session(let name):
        try catalog.check([name])
        all.append(CancelWish(session: name, reason: reason))
      case .manifest(let job):
        for home in job.plan.itemSessions where job.plan.sessions[home.index].kind != .ephemeral {
          all.append(
            CancelWish(
              session: job.plan.sessions[home.index].identifier, manifest: job.plan.manifest, job: job,
              reason: reason))
        }
      }
    }
    // If a whole session is canceled, a wish for part of it is redundant.
    var seen: Set<String> = []
    let wishes = all.filter { wish in
      let isWhole = all.contains { $0.session == wish.session && $0.manifest == nil }
      return (!isWhole || wish.manifest == nil)
        && seen.insert("\(wish.session) \(wish.manifest ?? "")").inserted
    }.sorted { ($0.session, $0.manifest ?? "") < ($1.session, $1.manifest ?? "") }
    let present = try wishes.filter { try catalog.knows($0.session) }
    let absent = Set(wishes.map(\.session)).subtracting(present.map(\.session))
    return (present, absent.map { Outcome(session: $0, result: .nothing) })
  }

  /// Leaves notes for the holders of sessions. A note that no process would read before the next run is
  /// withdrawn, because it would cancel that run's work.
  private func tell(
    _ held: [(wish: CancelWish, pid: Int32?)], _ manner: Manner, mayReturn: Bool, at now: Instant
  ) throws -> (told: [Told], freed: [CancelWish]) {
    guard !held.isEmpty else { return ([], []) }
    let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
    defer { try? inbox.close() }  // Every write is already synced.
    var told: [Told] = []
    var freed: [CancelWish] = []
    for (wish, pid) in held {
      let note = try inbox.leave(
        Note(
          session: wish.session, kind: manner.kind, manifest: wish.manifest,
          reason: wish.reason, createdAt: now))
      if mayReturn, try SessionLock.holder(session: wish.session, in: state) == nil {
        try inbox.remove([note])
        freed.append(wish)
      } else {
        let outcome = Outcome(session: wish.session, result: .told, pid: pid)
        told.append(Told(wish: wish, note: note, outcome: outcome))
      }
    }
    return (told, freed)
  }
}
