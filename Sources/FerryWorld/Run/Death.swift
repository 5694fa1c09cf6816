import FerrySimulation

/// The death of a simulated process after a number of actions: SIGKILL, or a power failure.
package struct Death: ProcessFate {
  /// The number of actions that remain before the death.
  private var actionsToLive: Int
  /// Whether the machine loses power. In that case, unsynced records are also lost.
  private let losesPower: Bool
  /// Whether records take some time to be written, so that the latest ones are lost.
  private let losesUnwritten: Bool
  /// The surviving part of the journal; `nil` if all of it survives.
  private var kept: VirtualJournal?

  package init(afterActions actions: Int, losesPower: Bool = false, losesUnwritten: Bool = false) {
    actionsToLive = actions
    self.losesPower = losesPower
    self.losesUnwritten = losesUnwritten
  }

  package var isDead: Bool { actionsToLive <= 0 }

  package mutating func diesAfterAction() -> Bool {
    actionsToLive -= 1
    return isDead
  }

  package mutating func journalWasWritten(_ journal: VirtualJournal) {
    if losesUnwritten, !losesPower { kept = journal }
  }

  package mutating func journalWasSynced(_ journal: VirtualJournal) {
    if losesUnwritten || losesPower { kept = journal }
  }

  package func surviving(_ journal: VirtualJournal) -> VirtualJournal { kept ?? journal }
}
