/// Events that the journal's threads report to the run.
package enum JournalEvent: Sendable {
  /// All writes up to and including this number are on disk.
  case synced(through: UInt64)
  /// A write is lost. Nothing more is written, and the run stops.
  case failed(JournalError)
}
