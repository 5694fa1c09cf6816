import FerryPlan

/// Decides when a simulated process dies, and what its journal keeps then. Without one, it never dies.
package protocol ProcessFate {
  /// Whether the process is dead before it begins.
  var isDead: Bool { get }
  /// Notes an action that was performed, and returns whether the process dies after it.
  mutating func diesAfterAction() -> Bool
  /// The records so far are written: they survive the death of the process.
  mutating func journalWasWritten(_ journal: VirtualJournal)
  /// The records so far are synced: they also survive a power failure.
  mutating func journalWasSynced(_ journal: VirtualJournal)
  /// What remains of the journal after the death.
  func surviving(_ journal: VirtualJournal) -> VirtualJournal
}
