import FerryManifest

/// Merges the listed files with the rows of the journal, to determine the items that this round still has to
/// send.
///
/// Both sides are sorted by path bytes, so a single merge without a dictionary processes a million items.
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
    /// The idempotency key of the item's commit; `nil` if no commit was about to be sent with one.
    package var commitKey: CommitKey?
    /// Whether the file was delivered and must still be deleted or moved.
    package var owesAfter: Bool
    /// Whether the file was submitted again after it was queued. If so, a failed or canceled item is sent again in its
    /// round, and so is a delivered one that has changed, with `deliver: every_run`.
    package var isSubmittedAnew = false
    /// Whether the item was queued at a time that is still in the future, because the clock was wrong. Such
    /// an item counts as queued now.
    package var isQueuedInFuture = false
    /// The identity of the file that a server may have received in part (`FileColumns.identities`); `nil` if
    /// it is unknown or does not matter.
    package var partialIdentity: UInt64?

    package init(
      row: Int64, round: Int64, state: ItemState, intent: ItemStep? = nil, size: Int64, modified: Int64,
      handedOver: Instant? = nil, expires: Instant? = nil, commitKey: CommitKey? = nil,
      owesAfter: Bool = false
    ) {
      self.row = row
      self.round = round
      self.state = state
      self.intent = intent
      self.size = size
      self.modified = modified
      self.handedOver = handedOver
      self.expires = expires
      self.commitKey = commitKey
      self.owesAfter = owesAfter
    }

    /// Whether an earlier launch began the item without ending it.
    package var isBegun: Bool { !state.isClosed && (state != .queued || intent != nil) }
  }

  /// The number of items for which this launch has nothing to do, by reason.
  package struct Settled: Hashable, Codable, Sendable {
    /// Files that were delivered earlier and are not delivered again.
    package var delivered = 0
    /// The part of `delivered` that was delivered in this round.
    package var doneInRound = 0
    package var failedInRound = 0
    package var cancelledInRound = 0
    package var ambiguous = 0
    /// Delivered files that still have to be deleted or moved.
    package var owedAfter = 0
    /// The part of `delivered` that is treated as unchanged because the contents have not been read.
    package var unread = 0
    /// Paths that could not be listed. Each counts as failed.
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
  ///   - listing: sorted by path bytes, without duplicate paths.
  ///   - contents: the results of reading the files, by their indices in the listing; empty if changes are
  ///     detected by size and modification time.
  package init(
    listing: FileColumns, deliver: Upload.Deliver, contents: [ContentComparison] = [], round: Int64,
    nextRow: Int64
  ) {
    precondition(
      contents.isEmpty || contents.count == listing.count, "every listed file must have been compared")
    self.listing = listing
    self.deliver = deliver
    self.contents = contents
    self.round = round
    self.nextRow = nextRow
    // Usually, either most of the listing is new, or nothing is.
    items.reserveCapacity(listing.count, pathBytes: listing.paths.count)
  }

  /// Merges one row; rows are passed sorted by path bytes.
  package mutating func meet(_ known: Known, path: some Collection<UInt8>) {
    Array(path).withUnsafeBytes { meet(known, path: $0) }
  }

  /// Merges one row, whose path may be in SQLite's page memory: a million rows are compared without copying.
  package mutating func meet(_ known: Known, path: UnsafeRawBufferPointer) {
    if known.owesAfter { settled.owedAfter += 1 }
    guard catchUp(with: path) else {
      // The item is not listed. It may be a submitted file, which listings need not contain, so it must still
      // be completed, even in a later round. If the file no longer exists, the attempt to send it reports
      // this.
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
      // A server that has a part of one file must not receive the rest of another.
      let isOther = known.partialIdentity.map { ![0, $0].contains(listing.identities[index]) } ?? false
      var known = known
      // The server may have the whole of the other file, and cannot be asked for its offset on behalf of this one.
      if isOther, known.intent == .transfer { known.state = .queued }
      // An upload ID of an earlier round still belongs to the same file.
      let goesOn = isSame && !isOther && (known.round == round || known.state != .queued)
      if ![nil, .commitDeferred].contains(known.intent) || goesOn {
        carryOn(known, path: path, identity: listing.identities[index])
      } else {
        requeue(known, index: index)
      }
    case .done:
      settleDelivered(
        index, row: known.row, round: known.round, isSame: isSame, owesAfter: known.owesAfter,
        isSubmittedAnew: known.isSubmittedAnew)
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

  /// Adds the listed files before a path as new. Returns whether the path itself is listed.
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

  /// Adds the remaining listed files as new.
  package mutating func finish() {
    let rest = cursor..<listing.count
    items.append(new: rest, of: listing, firstRow: nextRow)
    nextRow += Int64(rest.count)
    cursor = listing.count
  }

  /// Merges the row of a delivered file that does not have to be deleted or moved.
  ///
  /// Most of a million rows may be such rows, for which no `Known` has to be created.
  package mutating func meetDelivered(
    row: Int64, round: Int64, size: Int64, modified: Int64, path: UnsafeRawBufferPointer
  ) {
    guard catchUp(with: path) else { return }
    let index = cursor
    cursor += 1
    let isSame = listing.sizes[index] == size && listing.modified[index] == modified
    settleDelivered(index, row: row, round: round, isSame: isSame, owesAfter: false)
  }

  /// Settles a delivered file that is still listed, or queues it again.
  private mutating func settleDelivered(
    _ index: Int, row: Int64, round: Int64, isSame: Bool, owesAfter: Bool, isSubmittedAnew: Bool = false
  ) {
    let again: Bool =
      switch deliver {
      case .once: false
      case .whenChanged: hasChanged(index, isSame: isSame)
      // A file that still has to be deleted or moved is not sent again merely because it is still present.
      case .everyRun: round != self.round && !(owesAfter && isSame) || isSubmittedAnew && !isSame
      }
    if again {
      requeue(row: row, entry: .requeued, index: index)
    } else {
      settled.delivered += 1
      if round == self.round { settled.doneInRound += 1 }
    }
  }

  /// Returns whether a delivered file has changed since its delivery.
  ///
  /// - Parameter isSame: whether its size and modification time are the same.
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
    let isOfRound = known.round == round && !known.state.isClosed
    requeue(row: known.row, entry: isOfRound ? .changed : .requeued, index: index)
  }

  private mutating func requeue(row: Int64, entry: ItemTable.Entry, index: Int) {
    items.append(
      path: listing.path(index), size: listing.sizes[index], modified: listing.modified[index],
      identity: listing.identities[index], row: row, entry: entry)
  }

  /// Adds an open item, which continues in this round.
  ///
  /// - Parameter identity: the identity in the listing; 0 if the file is not listed.
  private mutating func carryOn(_ known: Known, path: UnsafeRawBufferPointer, identity: UInt64 = 0) {
    let isOfRound = known.round == round && !known.isQueuedInFuture
    items.append(
      path: path, size: known.size, modified: known.modified, identity: identity, row: known.row,
      entry: isOfRound ? .continuing : .adopted, handedOver: isOfRound ? known.handedOver : nil,
      begun: known.isBegun
        ? .init(
          state: known.state, expires: known.expires, intent: known.intent, commitKey: known.commitKey) : nil)
  }
}
