import FerryPlan
import Foundation

/// The journal's own thread: takes a run's changes, commits them in groups, and brings them to the disk.
///
/// `append` never waits for the disk. What has queued up is committed in one transaction a journal; an
/// intent and `sync()` are synced at once, everything else by the first of `syncInterval` and
/// `syncOutcomes`. Order is kept, and a failure is final.
///
/// `@unchecked Sendable`: `state` is touched under `condition`'s lock, `pending` by the thread alone.
package final class JournalWriter: @unchecked Sendable {
  package struct Options: Sendable {
    /// From the first write that is not synced to its sync, at most.
    package var syncInterval: Duration = .milliseconds(50)
    /// Outcomes that are not synced, at most.
    package var syncOutcomes = 512
    /// The least time from one commit to the next, unless a sync is due: at full speed a commit costs ten
    /// times as much as a write. So much is lost by SIGKILL at most, and done again. 0 commits at each wake-up.
    package var commitInterval: Duration = .milliseconds(5)
    /// Bytes of changes that wait in memory before `append` waits too.
    package var queueLimit = 64 << 20
    /// Each sync takes at least this long: a slow disk for tests and benchmarks.
    package var syncDelay: Duration = .zero

    package init() {}
  }

  /// What the thread has done; for benchmarks and the report.
  package struct Statistics: Hashable, Sendable {
    package var writes = 0
    package var commits = 0
    package var syncs = 0
    package var checkpoints = 0
    /// The thread's own processor time; complete after `close()`.
    package var processorTime: Duration = .zero
  }

  private struct State {
    var batches: [(journal: Int, writes: [JournalWrite])] = []
    var bytes = 0
    var outcomes = 0
    var sequence: UInt64 = 0
    var syncRequested = false
    /// The thread waits for `commitInterval` to pass, and need not be woken for a plain write.
    var isResting = false
    var isClosing = false
    var isFinished = false
    var failure: JournalError?
    var statistics = Statistics()
  }

  /// What is committed and not synced.
  private struct Pending {
    var dirty: [Bool]
    var since: Int64?
    var outcomes = 0
    var through: UInt64 = 0
    var lastCommit = Int64.min / 2
  }

  private struct Work {
    var batches: [(journal: Int, writes: [JournalWrite])]
    var through: UInt64
    var mustSync: Bool
    var mustAnswer: Bool
    var isLast: Bool
  }

  private let journals: [SessionJournal]
  private let options: Options
  private let deliver: @Sendable (JournalEvent) -> Void
  private let condition = DeadlineCondition()
  private var state = State()
  private var pending: Pending

  /// Starts the thread. `deliver` is called on it, must not wait, and must not call `close()`. Nobody
  /// else uses the journals until `close()` has returned.
  package init(
    journals: [SessionJournal], options: Options = Options(),
    deliver: @escaping @Sendable (JournalEvent) -> Void
  ) {
    precondition(journals.allSatisfy(\.isWritable), "a journal opened for reading is not written to")
    self.journals = journals
    self.options = options
    self.deliver = deliver
    pending = Pending(dirty: Array(repeating: false, count: journals.count))
    let thread = Thread { self.run() }
    thread.name = "ferry-journal"
    thread.start()
  }

  /// Takes changes of one journal, in order; the result is their number for `.synced(through:)`. Waits
  /// only while `queueLimit` is exceeded. Throws once a write is lost, and after `close()`.
  @discardableResult
  package func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64 {
    precondition(journals.indices.contains(journal), "the journal is one of this writer's")
    var bytes = 0
    var outcomes = 0
    var isUrgent = false
    for write in writes {
      bytes += write.weight
      if write.isOutcome { outcomes += 1 }
      if write.isIntent { isUrgent = true }
    }
    let result: Result<UInt64, JournalError> = condition.withLock {
      while state.bytes > options.queueLimit, state.failure == nil, !state.isClosing { condition.wait() }
      if let failure = state.failure { return .failure(failure) }
      if state.isClosing {
        return .failure(
          JournalError(.closed, file: journals[journal].path, cause: "a write came after the end"))
      }
      // A thread that rests after a commit comes back by itself.
      let isAwaited = state.batches.isEmpty && !state.isResting
      state.batches.append((journal, writes))
      state.bytes += bytes
      state.outcomes += outcomes
      state.sequence += 1
      if isUrgent { state.syncRequested = true }
      if isAwaited || isUrgent || state.outcomes >= options.syncOutcomes || state.bytes > options.queueLimit {
        condition.wakeAll()
      }
      return .success(state.sequence)
    }
    return try result.get()
  }

  /// Asks for a sync at once; `.synced` follows, through the returned number or a later one, also where
  /// everything was synced before.
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

  /// Commits and syncs what is left and ends the thread; throws where a write was lost, now or before.
  /// A second call gives the same answer. The journals stay open.
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
        let work = waitForWork()
        isLast = work.isLast
        try commit(work)
        if work.mustSync || pending.outcomes >= options.syncOutcomes { try sync(answering: work.mustAnswer) }
      }
      finish(nil)
    } catch {
      // Before anything else: SQLite must not go on with what failed when the connection closes.
      for journal in journals { journal.abandon() }
      finish(error)
    }
  }

  private func waitForWork() -> Work {
    condition.withLock {
      let syncDeadline = pending.since.map { $0 &+ options.syncInterval.nanoseconds }
      let commitDeadline = pending.lastCommit &+ options.commitInterval.nanoseconds
      while true {
        if state.isClosing || state.syncRequested { break }
        if pending.outcomes + state.outcomes >= options.syncOutcomes { break }
        if state.bytes > options.queueLimit { break }
        let now = DeadlineCondition.now
        if let syncDeadline, syncDeadline <= now { break }
        if now < commitDeadline {
          state.isResting = true
          condition.wait(until: min(commitDeadline, syncDeadline ?? .max))
          state.isResting = false
        } else if state.batches.isEmpty {
          condition.wait(until: syncDeadline)
        } else {
          break
        }
      }
      let isSyncDue = syncDeadline.map { $0 <= DeadlineCondition.now } ?? false
      let work = Work(
        batches: state.batches, through: state.sequence,
        mustSync: state.syncRequested || state.isClosing || isSyncDue, mustAnswer: state.syncRequested,
        isLast: state.isClosing)
      state.batches.removeAll(keepingCapacity: state.batches.count < 4096)
      state.bytes = 0
      state.outcomes = 0
      state.syncRequested = false
      condition.wakeAll()
      return work
    }
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
      try journal.commit(batches)
      pending.dirty[index] = true
      commits += 1
      for batch in batches {
        writes += batch.count
        for write in batch where write.isOutcome { pending.outcomes += 1 }
      }
    }
    pending.through = work.through
    condition.withLock {
      state.statistics.commits += commits
      state.statistics.writes += writes
    }
  }

  private func sync(answering mustAnswer: Bool) throws(JournalError) {
    let hadWork = pending.since != nil
    if hadWork {
      let began = DeadlineCondition.now
      for (index, journal) in journals.enumerated() where pending.dirty[index] {
        try journal.sync()
        pending.dirty[index] = false
      }
      delay(from: began)
      pending.since = nil
      pending.outcomes = 0
    }
    if hadWork || mustAnswer { deliver(.synced(through: pending.through)) }
    var checkpoints = 0
    if hadWork {
      for journal in journals where try journal.checkpointIfDue() { checkpoints += 1 }
    }
    condition.withLock {
      if hadWork { state.statistics.syncs += 1 }
      state.statistics.checkpoints += checkpoints
    }
  }

  private func delay(from began: Int64) {
    let rest = options.syncDelay.nanoseconds - (DeadlineCondition.now - began)
    guard rest > 0 else { return }
    Thread.sleep(forTimeInterval: Double(rest) / 1e9)
  }

  private func finish(_ failure: JournalError?) {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    condition.withLock {
      state.failure = failure
      state.batches = []
      state.bytes = 0
      state.statistics.processorTime = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
      condition.wakeAll()
    }
    if let failure { deliver(.failed(failure)) }
    condition.withLock {
      state.isFinished = true
      condition.wakeAll()
    }
  }
}
