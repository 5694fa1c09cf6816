/// What the journal's thread tells the run.
package enum JournalEvent: Sendable {
  /// Everything appended up to and with this number is committed: safe from SIGKILL, not from a power cut.
  /// Told only where `JournalWriter.Options.tellsCommits` is set.
  case committed(through: UInt64)
  /// Everything appended up to and with this number is on the disk.
  case synced(through: UInt64)
  /// A write is lost: nothing more is written, and the run stops.
  case failed(JournalError)
}
