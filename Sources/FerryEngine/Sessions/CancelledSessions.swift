import FerryJournal
import FerryPlan

/// A session to cancel, and the manifest whose items are canceled. If the manifest is `nil`, the items of all manifests
/// are canceled.
struct CancelWish {
  var session: String
  var manifest: String?
  var job: Job?
  /// The text of `--reason`.
  var reason: CancelReason?
}

/// Cancels open work in sessions that no process holds, under their locks.
///
/// `ferry.db` is first opened only for reading and then only for writing, because SQLite's locks do not allow both at
/// once in one process.
struct CancelledSessions {
  let state: StateDirectory
  let environment: [String: String]
  let version: String
  let now: Instant
  private(set) var outcomes: [Cancellation.Outcome] = []
  /// The sessions to remove, each at most once.
  private var removed: [RemovedSession] = []
  private var locks: [String: SessionLock] = [:]
  /// Notes that no process will read; they are removed.
  private var notes: [Int64] = []

  init(state: StateDirectory, environment: [String: String], version: String, now: Instant) {
    self.state = state
    self.environment = environment
    self.version = version
    self.now = now
  }

  /// Takes ownership of the locks of a session for which the command waited.
  mutating func take(_ locks: [SessionLock], of session: String) {
    for lock in locks { self.locks[session] = lock }
  }

  func release() { for lock in locks.values { lock.release() } }

  /// Cancels the work of all sessions that no other process holds.
  ///
  /// - Returns: the wishes for sessions that another process holds.
  mutating func end(_ wishes: [CancelWish]) throws -> [(wish: CancelWish, pid: Int32?)] {
    var held: [(wish: CancelWish, pid: Int32?)] = []
    var free: [CancelWish] = []
    for wish in wishes {
      if locks[wish.session] == nil {
        switch try SessionLock.try(session: wish.session, in: state, at: now) {
        case .acquired(let lock): locks[wish.session] = lock
        case .held(let pid, _):
          held.append((wish, pid))
          continue
        }
      }
      free.append(wish)
    }
    guard !free.isEmpty else { return held }
    let rounds = try endOpen(free)
    try write(rounds)
    return held
  }

  /// Cancels open work, and returns the rounds that have no more open work.
  private mutating func endOpen(_ wishes: [CancelWish]) throws -> [ClosedRound] {
    let history = try RunHistory.openForReading(in: state)
    // The databases were only read, so closing them cannot lose data.
    defer { try? history.close() }
    let inbox = try Inbox.openForReading(in: state)
    defer { try? inbox.close() }
    var manifests: Set<String> = []
    for wish in wishes { manifests.formUnion(try end(wish, history, inbox)) }
    let rounds = OpenRounds(state: state, history: history, environment: environment)
    return try manifests.sorted().compactMap {
      try rounds.finished($0, cancelled: Set(locks.keys), at: now)
    }
  }

  /// Cancels the open work of one session, which this process has locked.
  ///
  /// - Returns: the manifests that were affected.
  private mutating func end(
    _ wish: CancelWish, _ history: RunHistory, _ inbox: Inbox
  ) throws -> Set<String> {
    var outcome = Cancellation.Outcome(session: wish.session, result: .cancelled)
    let notes = try inbox.notes(session: wish.session).filter {
      wish.manifest == nil || $0.manifest == wish.manifest
    }
    var manifests = Set(notes.compactMap(\.manifest) + [wish.manifest].compactMap(\.self))
    let found = try SessionJournal.openExisting(
      session: wish.session, in: state, known: history.knownJournals(locked: Set(state.lockedSessions())),
      writtenBy: version, at: now)
    if let journal = found {
      defer { try? journal.close() }  // All cancellations are already synced.
      let all = Set(try journal.nodes.map(\.manifest))
      if wish.manifest == nil { manifests.formUnion(all) }
      let before = try journal.ambiguousCount()
      let removesSession = try SessionRemoval(history: history, environment: environment).isRequested(
        by: [wish.job].compactMap(\.self).map(\.plan.policies.forceQuit),
        and: all.subtracting([wish.manifest].compactMap(\.self)))
      let failure = RecordedFailure.cancelled(wish.reason, removesSession: removesSession)
      outcome.items = try journal.cancelOpen(manifest: wish.manifest, reason: failure, at: now)
      outcome.ambiguous = try journal.ambiguousCount() - before
      let earlier = removed.first { $0.session == wish.session }?.items ?? 0
      removed.removeAll { $0.session == wish.session }
      let undecided = removesSession ? try journal.undecidedCount() : 0
      if undecided > 0 {
        outcome.undecided = undecided
      } else if removesSession {
        outcome.result = .removed
        removed.append(
          RemovedSession(
            session: wish.session, failure: failure, items: earlier + outcome.items, removedAt: now))
      }
    }
    outcome.submitted = notes.reduce(0) { $0 + $1.files.count }
    self.notes += notes.map(\.id)
    outcomes.append(outcome)
    return manifests
  }

  private mutating func write(_ rounds: [ClosedRound]) throws {
    if !notes.isEmpty {
      let inbox = try Inbox.open(in: state, writtenBy: version, at: now)
      defer { try? inbox.close() }  // The write is already synced.
      try inbox.remove(notes)
    }
    guard !rounds.isEmpty || !removed.isEmpty else { return }
    let history = try RunHistory.open(in: state, writtenBy: version, at: now)
    defer { try? history.close() }  // The write is already synced.
    for session in removed {
      // If the process is killed between these two calls, the next run registers the journal again.
      try history.remove(session)
      try SessionJournal.remove(session: session.session, in: state)
    }
    removed = []
    for round in rounds {
      try history.closeRound(manifest: round.manifest, number: round.round, at: now)
    }
    guard !rounds.isEmpty else { return }
    // The closed rounds are reported with the first session.
    outcomes[0].closedRounds = rounds
  }
}
