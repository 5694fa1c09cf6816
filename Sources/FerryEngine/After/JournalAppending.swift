import FerryJournal

/// Appends writes to the run's journals. `JournalWriter` is the production implementation; it reports synced
/// writes as a `JournalEvent`.
protocol JournalAppending: Sendable {
  /// Returns the sequence number of the write. Sequence numbers increase.
  func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64
  /// Requests a sync of everything appended so far; returns the sequence number of the last write.
  func sync() throws(JournalError) -> UInt64
}

extension JournalWriter: JournalAppending {}
