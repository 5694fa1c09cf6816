/// What the journal's threads tell the run.
package enum JournalEvent: Sendable {
  /// Everything appended up to and with this number is on the disk.
  case synced(through: UInt64)
  /// A write is lost: nothing more is written, and the run stops.
  case failed(JournalError)
}
