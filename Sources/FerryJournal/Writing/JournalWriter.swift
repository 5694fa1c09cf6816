import FerryPlan
import FerryProcess
import Foundation

/// Writes the journals on two threads: one commits a run's changes in groups; the other syncs them.
///
/// `append` never waits for the disk. Queued changes are committed in one transaction per journal.
///
/// All queued changes are synced immediately if a connection is waiting for an intent, or when `sync()` is called. Other
/// intents are synced immediately if the previous sync ended at least `intentInterval` ago; otherwise after that time, or
/// once there are as many as the intents specify. Other changes are synced after `syncInterval` or after `syncOutcomes`
/// outcomes, whichever comes first.
///
/// Commits continue during a sync, so a SIGKILL during a sync loses no more than at any other time. Commits wait only for
/// the syncs that SQLite performs around a checkpoint. A sync covers the commits that precede it. Only one sync runs at a
/// time, and later commits wait for the next one. Changes are written in order. After a failure, nothing more is written.
///
/// `@unchecked Sendable`: `state` is accessed under `condition`'s lock, `pending` only by the thread that
/// commits.
package final class JournalWriter: @unchecked Sendable {
  private struct State {
    var batches: [(journal: Int, writes: [JournalWrite])] = []
    var bytes = 0
    var outcomes = 0
    var sequence: UInt64 = 0
    var syncRequested = false
    /// The number of intents that await the next sync and may share it with further intents, and the number at which they
    /// are synced.
    var intents = (count: 0, group: Int.max)
    var isSyncing = false
    /// The end of the last sync.
    var syncedAt = Int64.min / 2
    /// Whether a sync has ended since the last check for a due checkpoint.
    var hasSynced = false
    /// A failure of the sync thread that the commit thread has not handled yet.
    var syncFailure: JournalError?
    /// Whether the thread is waiting for `commitInterval` to pass and does not need to be woken for a plain
    /// write.
    var isResting = false
    var isClosing = false
    var isFinished = false
    var failure: JournalError?
    var statistics = Statistics()
  }

  /// Commits that the next sync will cover.
  private struct Pending {
    var dirty: [Bool]
    var since: Int64?
    var outcomes = 0
    var through: UInt64 = 0
    var lastCommit = Int64.min / 2
  }

  private struct Work {
    var batches: [(journal: Int, writes: [JournalWrite])]
    var outcomes: Int
    var through: UInt64
    var mayCheckpoint: Bool
    var mustSync: Bool
    var mustAnswer: Bool
    var isLast: Bool
  }

  private let journals: [SessionJournal]
  private let options: Options
  private let deliver: @Sendable (JournalEvent) -> Void
  private let syncer: LogSyncer
  private let condition = DeadlineCondition()
  private var state = State()
  private var pending: Pending

  /// Takes ownership of the threads. `deliver` is called on one of them at a time; it must not block, and must not call
  /// `close()`. The journals must not be used elsewhere until `close()` has returned.
  package init(
    journals: [SessionJournal], options: Options = Options(), threads: Threads,
    deliver: @escaping @Sendable (JournalEvent) -> Void
  ) {
    precondition(journals.allSatisfy(\.isWritable), "a journal opened for reading is not written to")
    self.journals = journals
    self.options = options
    self.deliver = deliver
    syncer = LogSyncer(journals: journals, options: options)
    pending = Pending(dirty: Array(repeating: false, count: journals.count))
    syncer.start(on: threads.sync) { self.syncEnded($0, $1) }
    threads.commit.submit { self.run() }
  }

  /// Appends changes to one journal, in order. Returns their sequence number for `.synced(through:)`. Waits only
  /// while `queueLimit` is exceeded. Throws an error after a write was lost, and after `close()`.
  @discardableResult
  package func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64 {
    precondition(journals.indices.contains(journal), "the journal is one of this writer's")
    var bytes = 0
    var outcomes = 0
    var (grouped, group) = (0, Int.max)
    var isUrgent = false
    for write in writes {
      bytes += write.weight
      if write.isOutcome { outcomes += 1 }
      switch write.syncNeed {
      case .none: break
      case .grouped(let size): (grouped, group) = (grouped + 1, min(group, size))
      case .immediate: isUrgent = true
      }
    }
    let result: Result<UInt64, JournalError> = condition.withLock {
      while state.bytes > options.queueLimit, state.failure == nil, !state.isClosing { condition.wait() }
      if let failure = state.failure { return .failure(failure) }
      if state.isClosing {
        return .failure(
          JournalError(.closed, file: journals[journal].path, cause: "a write followed the close"))
      }
      // A thread that waits after a commit wakes up without a signal.
      let isAwaited = state.batches.isEmpty && !state.isResting
      state.batches.append((journal, writes))
      state.bytes += bytes
      state.outcomes += outcomes
      state.sequence += 1
      // The first intent of a group determines when the thread wakes up, unless the group is complete before.
      let isFirst = grouped > 0 && state.intents.count == 0
      state.intents = (state.intents.count + grouped, min(state.intents.group, group))
      let wakesForIntent = isFirst || grouped > 0 && isGroupComplete
      if isUrgent { state.syncRequested = true }
      // While a sync is running, nothing is urgent: the end of the sync wakes the thread.
      if isAwaited || ((isUrgent || wakesForIntent) && !state.isSyncing)
        || state.outcomes >= options.syncOutcomes
        || state.bytes > options.queueLimit
      {
        condition.wakeAll()
      }
      return .success(state.sequence)
    }
    return try result.get()
  }

  /// Whether the intents that may share a sync have waited long enough for others. The lock must be held.
  private func areIntentsDue(at now: Int64) -> Bool {
    isGroupComplete || now >= intentDeadline
  }

  /// Whether the intents are synced without waiting for others. The lock must be held.
  private var isGroupComplete: Bool { state.intents.count >= state.intents.group }

  /// The time at which a sync for grouped intents may begin. The lock must be held.
  private var intentDeadline: Int64 {
    state.intents.count > 0 ? state.syncedAt &+ options.intentInterval.nanoseconds : .max
  }

  /// Requests an immediate sync. `.synced` follows with the returned number or a later one, even if
  /// everything was already synced.
  @discardableResult
  package func sync() throws(JournalError) -> UInt64 {
    let result: Result<UInt64, JournalError> = condition.withLock {
      if let failure = state.failure { return .failure(failure) }
      state.syncRequested = true
      condition.wakeAll()
      return .success(state.sequence)
    }
    return try result.get()
  }

  /// Commits and syncs the remaining changes and ends the threads. Throws an error if this or an earlier
  /// write was lost. A second call has the same result. The journals stay open.
  package func close() throws(JournalError) {
    let failure: JournalError? = condition.withLock {
      state.isClosing = true
      condition.wakeAll()
      while !state.isFinished { condition.wait() }
      return state.failure
    }
    if let failure { throw failure }
  }

  package var statistics: Statistics { condition.withLock { state.statistics } }

  private func run() {
    do {
      var isLast = false
      while !isLast {
        let work = try waitForWork()
        isLast = work.isLast
        try commit(work)
        if work.mayCheckpoint { try checkpoint() }
        if work.mustSync { beginSync(answering: work.mustAnswer) }
      }
      try waitForSync()
      if condition.withLock({ state.hasSynced }) { try checkpoint() }
      finish(nil)
    } catch {
      // The journals are abandoned first, so that SQLite does not continue after the failure when the
      // connection is closed.
      for journal in journals { journal.abandon() }
      finish(error)
    }
  }

  private func waitForWork() throws(JournalError) -> Work {
    let result: Result<Work, JournalError> = condition.withLock {
      let syncDeadline = pending.since.map { $0 &+ options.syncInterval.nanoseconds } ?? .max
      let commitDeadline = pending.lastCommit &+ options.commitInterval.nanoseconds
      var mustSync = false
      while true {
        if let failure = state.syncFailure { return .failure(failure) }
        let now = DeadlineCondition.now
        // A sync that was requested while another one is running remains requested.
        mustSync =
          !state.isSyncing
          && (state.syncRequested || state.isClosing || syncDeadline <= now || areIntentsDue(at: now)
            || pending.outcomes + state.outcomes >= options.syncOutcomes)
        if mustSync || state.bytes > options.queueLimit { break }
        let wakeUp = state.isSyncing ? .max : min(syncDeadline, intentDeadline)
        if now < commitDeadline {
          state.isResting = true
          condition.wait(until: min(commitDeadline, wakeUp))
          state.isResting = false
        } else if state.batches.isEmpty, !state.hasSynced {
          condition.wait(until: wakeUp == .max ? nil : wakeUp)
        } else {
          break
        }
      }
      let work = Work(
        batches: state.batches, outcomes: state.outcomes, through: state.sequence,
        mayCheckpoint: state.hasSynced, mustSync: mustSync, mustAnswer: mustSync && state.syncRequested,
        isLast: mustSync && state.isClosing)
      state.batches.removeAll(keepingCapacity: state.batches.count < 4096)
      state.bytes = 0
      state.outcomes = 0
      state.hasSynced = false
      if mustSync { (state.syncRequested, state.intents) = (false, (0, .max)) }
      condition.wakeAll()
      return .success(work)
    }
    return try result.get()
  }

  private func commit(_ work: Work) throws(JournalError) {
    guard !work.batches.isEmpty else { return }
    pending.lastCommit = DeadlineCondition.now
    if pending.since == nil { pending.since = pending.lastCommit }
    var commits = 0
    var writes = 0
    for (index, journal) in journals.enumerated() {
      let batches = work.batches.filter { $0.journal == index }.map(\.writes)
      guard !batches.isEmpty else { continue }
      try journal.commit(batches) { try self.waitForSync() }
      pending.dirty[index] = true
      commits += 1
      writes += batches.reduce(0) { $0 + $1.count }
    }
    pending.outcomes += work.outcomes
    pending.through = work.through
    condition.withLock {
      state.statistics.commits += commits
      state.statistics.writes += writes
    }
  }

  /// Called only while no sync is running.
  private func checkpoint() throws(JournalError) {
    var checkpoints = 0
    for journal in journals where try journal.checkpointIfDue() { checkpoints += 1 }
    guard checkpoints > 0 else { return }
    condition.withLock { state.statistics.checkpoints += checkpoints }
  }

  /// Passes the committed changes to the sync thread. Called only while no sync is running.
  private func beginSync(answering mustAnswer: Bool) {
    guard pending.since != nil else {
      // Nothing was written since the last sync, so the sync thread will not report this number.
      if mustAnswer { deliver(.synced(through: pending.through)) }
      return
    }
    let dirty = journals.indices.filter { pending.dirty[$0] }
    for journal in dirty { pending.dirty[journal] = false }
    pending.since = nil
    pending.outcomes = 0
    condition.withLock { state.isSyncing = true }
    syncer.begin(LogSyncer.Job(journals: dirty, through: pending.through))
  }

  /// Called on the sync thread.
  private func syncEnded(_ job: LogSyncer.Job, _ failure: JournalError?) {
    if failure == nil { deliver(.synced(through: job.through)) }
    condition.withLock {
      if let failure {
        state.syncFailure = failure
      } else {
        state.hasSynced = true
        state.statistics.syncs += 1
      }
      state.isSyncing = false
      state.syncedAt = DeadlineCondition.now
      condition.wakeAll()
    }
  }

  /// Waits until no sync is running. Throws an error if a sync has failed.
  private func waitForSync() throws(JournalError) {
    let failure = condition.withLock {
      while state.isSyncing { condition.wait() }
      return state.syncFailure
    }
    if let failure { throw failure }
  }

  private func finish(_ failure: JournalError?) {
    // Events of a running sync are delivered before the failure; no event is delivered after it.
    let time = syncer.close() + LogSyncer.processorTime
    condition.withLock {
      state.failure = failure
      state.batches = []
      state.bytes = 0
      state.statistics.processorTime = time
      condition.wakeAll()
    }
    if let failure { deliver(.failed(failure)) }
    condition.withLock {
      state.isFinished = true
      condition.wakeAll()
    }
  }
}
