import FerryProcess

extension JournalWriter {
  /// Syncs all data written to a descriptor's file. Returns the result and `errno` of fdatasync(2).
  package typealias SyncCall = @Sendable (Int32) -> Int32

  package struct Options: Sendable {
    /// The maximum time from the first unsynced write to its sync.
    package var syncInterval: Duration = .milliseconds(50)
    /// The maximum number of unsynced outcomes.
    package var syncOutcomes = 512
    /// The minimum time between two syncs for intents that hold up only their own requests. The limit exists because, at
    /// full speed, each sync would otherwise cover only a few intents, and wake the run for them.
    package var intentInterval: Duration = .milliseconds(5)
    /// The minimum time between two commits, unless a sync is due. The limit exists because, at full speed, a commit
    /// costs ten times as much as a write. SIGKILL loses at most this much work, which is then repeated. With 0,
    /// changes are committed at each wake-up.
    package var commitInterval: Duration = .milliseconds(5)
    /// The maximum size in bytes of changes waiting in memory. Above this limit, `append` also waits.
    package var queueLimit = 64 << 20
    /// The minimum duration of each sync, to simulate a slow disk in tests and benchmarks.
    package var syncDelay: Duration = .zero
    /// The system call that syncs each log. Only tests replace it.
    package var syncCall: SyncCall = LogFile.systemCall

    package init() {}
  }

  /// The threads that a writer occupies until `close()`.
  package struct Threads {
    package var commit: SerialWorker
    package var sync: SerialWorker

    package init() throws(ThreadUnavailable) {
      commit = try SerialWorker("ferry-journal")
      sync = try SerialWorker("ferry-sync")
    }
  }

  /// Statistics of the threads, for benchmarks and the report.
  package struct Statistics: Hashable, Sendable {
    package var writes = 0
    package var commits = 0
    package var syncs = 0
    package var checkpoints = 0
    /// The processor time of the threads; available after `close()`.
    package var processorTime: Duration = .zero
  }
}
