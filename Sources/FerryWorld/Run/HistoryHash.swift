import FerryPlan

/// What a history comes to: FNV-1a over its actions. Equal histories have equal hashes in every process.
struct HistoryHash: Sendable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func combine(_ word: Int) {
    value ^= UInt64(truncatingIfNeeded: word)
    value = value &* 0x100_0000_01B3
    value ^= value >> 29
  }

  mutating func combine(_ place: Place) {
    combine(place.node.index)
    combine(place.item ?? -1)
    if let orphan = place.orphan { combine(orphan) }
  }

  mutating func combine(_ action: Action) {
    switch action {
    case .start(let attempt):
      combine(1)
      combine(attempt.place)
      combine(attempt.step.rawValue.count)
      combine(attempt.tokenGeneration)
    case .cancel(let id):
      combine(2)
      combine(Int(id))
    case .record(let entries):
      combine(3)
      for entry in entries { combine(entry) }
    case .sync: combine(4)
    case .lease(let request):
      combine(5)
      combine(Int(truncatingIfNeeded: request.minimum))
    case .releaseLeases: combine(6)
    case .end: combine(7)
    }
  }

  private mutating func combine(_ entry: JournalEntry) {
    switch entry {
    case .handedOver(let node, let items, let at):
      combine(Place(node, items.upperBound))
      combine(Int(at.nanoseconds))
    case .intent(let place, let step):
      combine(place)
      combine(Int(step?.rawValue ?? 0))
    case .withdrawn(let place): combine(place)
    case .allocated(let place, let expires):
      combine(place)
      combine(Int(expires?.nanoseconds ?? 0))
    case .transferred(let place): combine(place)
    case .released(let place): combine(place)
    case .closed(let place, let state, _, let at):
      combine(place)
      combine(Int(state.rawValue))
      combine(Int(at.nanoseconds))
    case .resumed(let session, let state):
      combine(session.index)
      combine(Int(state.period.nanoseconds))
    case .orphaned(let place, let number, let orphaning, _):
      combine(place)
      combine(number)
      combine(Int(orphaning.reason.rawValue))
    case .settled(let place), .notReleased(let place, _, _): combine(place)
    case .batchThrough(let session): combine(session.index)
    }
  }
}
