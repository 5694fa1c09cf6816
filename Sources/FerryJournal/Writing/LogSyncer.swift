import FerryPlan
import FerryProcess
import Foundation

/// The thread that syncs logs, one sync at a time, while the commit thread continues.
///
/// `@unchecked Sendable`: `state` is accessed under `condition`'s lock.
final class LogSyncer: @unchecked Sendable {
  /// A sync to perform.
  struct Job {
    /// The journals that were written to.
    var journals: [Int]
    /// The sequence number of the last write that was committed when the sync was requested.
    var through: UInt64
  }

  private struct State {
    var job: Job?
    var isClosing = false
    /// The thread's processor time, set when the thread has ended.
    var processorTime: Duration?
  }

  /// The logs by journal; `nil` for a journal in memory.
  private let logs: [Result<LogFile?, JournalError>]
  private let call: JournalWriter.SyncCall
  private let delay: Duration
  private let condition = DeadlineCondition()
  private var state = State()

  init(journals: [SessionJournal], options: JournalWriter.Options) {
    logs = journals.map { journal in
      guard journal.isDurable else { return .success(nil) }
      // If a log cannot be opened, the first sync reports the error, as it does for a log that cannot be
      // synced.
      return Result { () throws(JournalError) in
        try LogFile(journal: journal.path, commits: journal.commits, exists: !journal.isShared)
      }
    }
    call = options.syncCall
    delay = options.syncDelay
  }

  /// Occupies the thread until `close()`. `ended` is called on the thread after each sync, with an error if
  /// the sync failed.
  func start(on thread: SerialWorker, _ ended: @escaping @Sendable (Job, JournalError?) -> Void) {
    thread.submit { self.run(ended) }
  }

  /// Starts a sync. The previous one must have ended.
  func begin(_ job: Job) {
    condition.withLock {
      precondition(state.job == nil, "one sync at a time")
      state.job = job
      condition.wakeAll()
    }
  }

  /// Waits for the running sync, stops the thread, and returns its processor time.
  func close() -> Duration {
    condition.withLock {
      state.isClosing = true
      condition.wakeAll()
      while true {
        if let time = state.processorTime { return time }
        condition.wait()
      }
    }
  }

  /// The processor time of the calling thread.
  static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  private func run(_ ended: (Job, JournalError?) -> Void) {
    while let job = nextJob() {
      do throws(JournalError) {
        try sync(job)
        ended(job, nil)
      } catch {
        ended(job, error)
      }
    }
    condition.withLock {
      state.processorTime = Self.processorTime
      condition.wakeAll()
    }
  }

  private func nextJob() -> Job? {
    condition.withLock {
      while true {
        if let job = state.job {
          state.job = nil
          return job
        }
        if state.isClosing { return nil }
        condition.wait()
      }
    }
  }

  private func sync(_ job: Job) throws(JournalError) {
    let began = DeadlineCondition.now
    for journal in job.journals { try logs[journal].get()?.sync(call) }
    let rest = delay.nanoseconds -| (DeadlineCondition.now - began)
    if rest > 0 { Thread.sleep(forTimeInterval: Double(rest) / 1e9) }
  }
}
