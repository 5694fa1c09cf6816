import FerryJournal

/// Appends writes to the run's journals. `JournalWriter` is the real one; it reports what is synced as a `JournalEvent`.
protocol JournalAppending: Sendable {
  /// Returns the number of the write. Numbers increase.
  func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64
  /// Asks for a sync of everything appended so far, and returns the number of the last write.
  func sync() throws(JournalError) -> UInt64
}

extension JournalWriter: JournalAppending {}
