import FerryManifest

/// What is listed now, met with what the journal knows: which items this round still has to carry.
///
/// Both sides come sorted by path bytes, so a million items are one merge and no dictionary.
package struct Reconciliation: Sendable {
  /// A row of the journal.
  package struct Known: Sendable {
    package var row: Int64
    package var round: Int64
    package var state: ItemState
    package var intent: ItemStep?
    package var size: Int64
    package var modified: Int64
    package var handedOver: Instant?
    package var expires: Instant?
    /// It is delivered, and still to be deleted or moved.
    package var owesAfter: Bool
    /// It was submitted once more after it was handed over: where it ended in vain, it is sent anew in its round.
    package var isSubmittedAnew = false

    package init(
      row: Int64, round: Int64, state: ItemState, intent: ItemStep? = nil, size: Int64, modified: Int64,
      handedOver: Instant? = nil, expires: Instant? = nil, owesAfter: Bool = false
    ) {
      self.row = row
      self.round = round
      self.state = state
      self.intent = intent
      self.size = size
      self.modified = modified
      self.handedOver = handedOver
      self.expires = expires
      self.owesAfter = owesAfter
    }

    /// Whether an earlier launch has done something of it, and has not ended it.
    package var isBegun: Bool { !state.isClosed && (state != .queued || intent != nil) }
  }

  /// Items that need nothing in this launch, by why.
  package struct Settled: Hashable, Codable, Sendable {
    /// Delivered before, and not to be delivered again.
    package var delivered = 0
    /// Of those: delivered in this round.
    package var doneInRound = 0
    package var failedInRound = 0
    package var cancelledInRound = 0
    package var ambiguous = 0
    /// Delivered, and still to be deleted or moved.
    package var owedAfter = 0
    /// Of those that were delivered: taken for unchanged, as nobody has looked into them.
    package var unread = 0
    /// Paths that could not be listed: each counts as failed.
    package var unlisted = 0

    package init() {}
  }

  package private(set) var items = ItemTable()
  package private(set) var settled = Settled()
  /// The next free row of the journal.
  package private(set) var nextRow: Int64

  private let deliver: Upload.Deliver
  private let contents: [ContentComparison]
  private let round: Int64
  private let listing: FileColumns
  private var cursor = 0

  /// - Parameters:
  ///   - listing: sorted by path bytes, no path twice.
  ///   - contents: what looks into the files have told, by their places in the listing; empty where size and
  ///     modification time tell what has changed.
  package init(
    listing: FileColumns, deliver: Upload.Deliver, contents: [ContentComparison] = [], round: Int64,
    nextRow: Int64
  ) {
    precondition(contents.isEmpty || contents.count == listing.count, "every listed file has an answer")
    self.listing = listing
    self.deliver = deliver
    self.contents = contents
    self.round = round
    self.nextRow = nextRow
    // Mostly most of the listing is new, or none of it.
    items.reserveCapacity(listing.count, pathBytes: listing.paths.count)
  }

  /// Meets one row; rows come sorted by path bytes.
  package mutating func meet(_ known: Known, path: some Collection<UInt8>) {
    Array(path).withUnsafeBytes { meet(known, path: $0) }
  }

  /// The same. It takes bytes as they lie in SQLite's page: a million rows are compared, and none is copied.
  package mutating func meet(_ known: Known, path: UnsafeRawBufferPointer) {
    if known.owesAfter { settled.owedAfter += 1 }
    guard catchUp(with: path) else {
      // Nothing lists it any more, or ever did: a submitted file. It is still owed an end, also in a later round:
      // sending it tells whether the file is gone.
      if !known.state.isClosed { carryOn(known, path: path) }
      if known.state == .ambiguous { settled.ambiguous += 1 }
      return
    }
    let index = cursor
    cursor += 1
    let isSame = listing.sizes[index] == known.size && listing.modified[index] == known.modified
    switch known.state {
    case .ambiguous:
      settled.ambiguous += 1
    case .queued, .allocated, .transferred:
      // An upload ID of an earlier round is of the same file still.
      let goesOn = isSame && (known.round == round || known.state != .queued)
      if known.intent != nil || goesOn {
        carryOn(known, path: path, identity: listing.identities[index])
      } else {
        requeue(known, index: index)
      }
    case .done:
      let again: Bool =
        switch deliver {
        case .once: false
        case .whenChanged: hasChanged(index, isSame: isSame)
        // A file that should not be there any more is not sent once more for being left behind.
        case .everyRun: known.round != round && !(known.owesAfter && isSame)
        }
      if again {
        requeue(known, index: index)
      } else {
        settled.delivered += 1
        if known.round == round { settled.doneInRound += 1 }
      }
    case .failed, .cancelled:
      if known.round != round || !isSame || known.isSubmittedAnew {
        requeue(known, index: index)
      } else if known.state == .failed {
        settled.failedInRound += 1
      } else {
        settled.cancelledInRound += 1
      }
    }
  }

  /// Takes what is listed before a path; true where the path itself is listed.
  private mutating func catchUp(with path: UnsafeRawBufferPointer) -> Bool {
    while cursor < listing.count {
      switch listing.order(cursor, to: path) {
      case .before: appendNew()
      case .same: return true
      case .behind: return false
      }
    }
    return false
  }

  /// Takes what is listed and not known.
  package mutating func finish() {
    while cursor < listing.count { appendNew() }
  }

  /// Whether a delivered file is another than the one that was delivered.
  ///
  /// - Parameter isSame: by its size and modification time.
  private mutating func hasChanged(_ index: Int, isSame: Bool) -> Bool {
    switch contents.isEmpty ? .notAsked : contents[index] {
    case .notAsked: return !isSame
    case .same: return false
    case .other: return true
    case .unread:
      settled.unread += 1
      return false
    }
  }

  private mutating func appendNew() {
    items.append(
      path: listing.path(cursor), size: listing.sizes[cursor], modified: listing.modified[cursor],
      identity: listing.identities[cursor], row: nextRow, entry: .new)
    nextRow += 1
    cursor += 1
  }

  private mutating func requeue(_ known: Known, index: Int) {
    items.append(
      path: listing.path(index), size: listing.sizes[index], modified: listing.modified[index],
      identity: listing.identities[index], row: known.row,
      entry: known.round == round && !known.state.isClosed ? .changed : .requeued)
  }

  /// - Parameter identity: as listed; 0 where nothing lists the file.
  private mutating func carryOn(_ known: Known, path: UnsafeRawBufferPointer, identity: UInt64 = 0) {
    let isOfRound = known.round == round
    items.append(
      path: path, size: known.size, modified: known.modified, identity: identity, row: known.row,
      entry: isOfRound ? .continuing : .adopted, handedOver: isOfRound ? known.handedOver : nil,
      begun: known.isBegun ? .init(state: known.state, expires: known.expires, intent: known.intent) : nil)
  }
}
