import FerryPlan

/// A hash of a history, computed over its actions with a variant of FNV-1a. Equal histories have equal
/// hashes in every process.
struct HistoryHash: Sendable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func combine(_ word: Int) {
    value ^= UInt64(truncatingIfNeeded: word)
    value = value &* 0x100_0000_01B3
    value ^= value >> 29
  }

  mutating func combine(_ ref: ItemRef) {
    combine(ref.node.index)
    combine(ref.item ?? -1)
    if let orphan = ref.orphan { combine(orphan) }
  }

  mutating func combine(_ action: Action) {
    switch action {
    case .start(let attempt):
      combine(1)
      combine(attempt.ref)
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
    case .keepLeases(let bytes):
      combine(6)
      combine(Int(truncatingIfNeeded: bytes))
    case .end: combine(7)
    case .list(let node):
      combine(8)
      combine(node.index)
    case .windowExpired: combine(9)
    }
  }

  private mutating func combine(_ entry: JournalEntry) {
    switch entry {
    case .itemsQueued(let node, let items, let at):
      combine(ItemRef(node, items.upperBound))
      combine(Int(at.nanoseconds))
    case .intentRecorded(let ref, let step):
      combine(ref)
      combine(Int(step?.rawValue ?? 0))
    case .intentWithdrawn(let ref): combine(ref)
    case .uploadIDAllocated(let ref, let expires), .uploadIDUpdated(let ref, let expires):
      combine(ref)
      combine(Int(expires?.nanoseconds ?? 0))
    case .transferAdvanced(let ref, let bytes):
      combine(ref)
      combine(Int(bytes))
    case .fileTransferred(let ref): combine(ref)
    case .uploadIDDiscarded(let ref): combine(ref)
    case .itemClosed(let ref, let state, _, let at):
      combine(ref)
      combine(Int(state.rawValue))
      combine(Int(at.nanoseconds))
    case .sessionResumed(let session, let state):
      combine(session.index)
      combine(Int(state.period.nanoseconds))
    case .uploadIDOrphaned(let ref, let number, let orphaning, _):
      combine(ref)
      combine(number)
      combine(Int(orphaning.reason.rawValue))
    case .orphanResolved(let ref), .orphanReleaseFailed(let ref, _, _): combine(ref)
    case .sessionInForeground(let session, let moment):
      combine(session.index)
      combine(Int(moment.nanoseconds))
    case .fetchFailed(let node, _, let at):
      combine(node.index)
      combine(Int(at.nanoseconds))
    case .nodeFailing(let node, let since):
      combine(node.index)
      combine(Int(since?.nanoseconds ?? 0))
    case .batchCompleted(let session): combine(session.index)
    }
  }
}
