/// The items of one upload that this launch may work on, in columns.
package struct ItemTable: Sendable {
  package var files = FileColumns()
  /// The journal's row of each.
  package var rows: [Int64] = []
  package var phases: [Phase] = []
  package var entries: [Entry] = []
  /// When each was handed over in this round; `nil` where it has not been yet.
  package var handedOver: [Int64] = []
  /// What is known of the few that an earlier launch had begun.
  package var begun: [Int: Begun] = [:]

  /// What this launch has done with an item.
  package enum Phase: UInt8, Sendable {
    case waiting
    case active
    case done
    case failed
    case ambiguous
    case cancelled
    /// Left for a later launch.
    case left
  }

  /// How an item came into this round.
  package enum Entry: UInt8, Sendable {
    /// Never seen before.
    case new
    /// Known, and queued again: a new round, or a changed file.
    case requeued
    /// Open in this round since an earlier launch, of a file that has changed: queued again.
    case changed
    /// Open in this round since an earlier launch.
    case continuing
    /// Begun in an earlier round, whose upload went on without it: it goes on in this one.
    case adopted

    /// What an earlier launch did for it, its upload ID too, is of no use any more.
    package var isQueuedAnew: Bool { self == .requeued || self == .changed }
  }

  /// An item that an earlier launch had begun.
  package struct Begun: Hashable, Sendable {
    package var state: ItemState
    package var expires: Instant?
    /// A commit, or a step that is never sent again, was about to be sent and its outcome is not known.
    package var intent: ItemStep?

    package init(state: ItemState, expires: Instant? = nil, intent: ItemStep? = nil) {
      self.state = state
      self.expires = expires
      self.intent = intent
    }
  }

  package init() {}

  package var count: Int { files.count }

  package mutating func append(
    path: some Collection<UInt8>, size: Int64, modified: Int64, identity: UInt64 = 0, row: Int64,
    entry: Entry, handedOver: Instant? = nil, begun: Begun? = nil
  ) {
    if let begun { self.begun[count] = begun }
    files.append(path: path, size: size, modified: modified, identity: identity)
    rows.append(row)
    phases.append(.waiting)
    entries.append(entry)
    self.handedOver.append(handedOver?.nanoseconds ?? Self.notHandedOver)
  }

  package static let notHandedOver = Int64.min

  /// Makes room at once for so many items.
  mutating func reserveCapacity(_ count: Int, pathBytes: Int) {
    files.reserveCapacity(count, pathBytes: pathBytes)
    rows.reserveCapacity(count)
    phases.reserveCapacity(count)
    entries.reserveCapacity(count)
    handedOver.reserveCapacity(count)
  }
}

extension ItemTable {
  /// Further items behind those that are there.
  package mutating func append(contentsOf other: ItemTable) {
    for item in 0..<other.count {
      let handedOver = other.handedOver[item]
      append(
        path: other.files.path(item), size: other.files.sizes[item], modified: other.files.modified[item],
        identity: other.files.identities[item], row: other.rows[item], entry: other.entries[item],
        handedOver: handedOver == Self.notHandedOver ? nil : Instant(nanoseconds: handedOver),
        begun: other.begun[item])
    }
  }
}
