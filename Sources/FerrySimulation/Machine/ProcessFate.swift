import FerryPlan

/// Determines when a simulated process dies, and the part of its journal that survives. Without a fate, a
/// process never dies.
package protocol ProcessFate {
  /// Whether the process dies before its first action.
  var isDead: Bool { get }
  /// Records that an action was performed. Returns whether the process dies after this action.
  mutating func diesAfterAction() -> Bool
  /// Called when the records so far are written: they survive the death of the process.
  mutating func journalWasWritten(_ journal: VirtualJournal)
  /// Called when the records so far are synced: they also survive a power failure.
  mutating func journalWasSynced(_ journal: VirtualJournal)
  /// The part of the journal that survives the death.
  func surviving(_ journal: VirtualJournal) -> VirtualJournal
}
