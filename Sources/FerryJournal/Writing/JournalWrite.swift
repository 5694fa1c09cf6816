import FerryPlan

/// One change of a session's journal, in the order it happened.
package enum JournalWrite: Sendable {
  /// Items handed over in this round for the first time; their rows are `firstRow`, `firstRow + 1`, …
  case insert(node: Int64, round: Int64, handedOver: Instant, firstRow: Int64, files: FileColumns)
  /// Items known from before that are queued again: a new round, or a file that changed. With `firstOrphan`, upload
  /// IDs that they hold become orphans `firstOrphan`, `firstOrphan + 1`, … by their places; without it they hold none.
  case requeue(round: Int64, handedOver: Instant, files: [Requeued], firstOrphan: Int64? = nil)
  /// Items that an earlier round had begun go on in this one, with all they have.
  case adopt(round: Int64, handedOver: Instant, rows: [Int64])
  /// A commit, or a step that is never sent again, is about to be sent. It must be synced before it is.
  case intent(row: Int64, step: ItemStep)
  /// An intent that certainly did not reach the wire, or that the server refused.
  case withdraw(row: Int64)
  /// The upload-ID step is done. Clears an intent.
  case allocated(row: Int64, captures: [CapturedValue], expires: Instant?)
  /// The server has the whole file. Clears an intent.
  case transferred(row: Int64, captures: [CapturedValue], sha256: [UInt8]?)
  /// The upload ID is of no use any more: back to queued, its captures forgotten.
  case released(row: Int64)
  /// The item's end in this round. Clears intent and captures (an ambiguous item keeps both).
  case closed(row: Int64, state: ItemState, at: Instant, failure: RecordedFailure?)
  /// The item's upload ID becomes an orphan of this id. What forgets it follows in the same append.
  case orphaned(row: Int64, orphan: Int64, Orphaning, at: Instant)
  /// The orphan was released, or is in use again.
  case orphanSettled(orphan: Int64)
  /// The orphan was not released, and why.
  case orphanKept(orphan: Int64, failure: RecordedFailure, at: Instant)
  /// Which file was sent: its inode, with the root that it was in, and its digest where that is asked for. What is
  /// `nil` stays as it was.
  case source(row: Int64, inode: UInt64?, root: FolderIdentity? = nil, sha256: [UInt8]?)
  /// Delivered files that hold what was delivered, with the times that they have now.
  case confirmed([ContentQuestions.Confirmed])
  /// What is owed to a file that is delivered, or what became of it. Appended together with the item's end,
  /// `.owed` is in the same transaction.
  case after(row: Int64, AfterState)
  /// What is owed to a delivered file was tried in vain, and is owed still.
  case afterTried(row: Int64)
  /// A fetch's or request's unrepeatable attempt; as `intent`.
  case nodeIntent(node: Int64, round: Int64)
  case nodeWithdraw(node: Int64)
  /// A fetch's or request's end in this round.
  case nodeClosed(node: Int64, NodeClosing)
  /// The session was resumed, and what starts next is delayed by the period; `nil` ends the delay.
  case resumed(period: Duration?, at: Instant?)
  /// Whether the session's `on_events` is still to be started for a batch that is through. Appended
  /// together with the outcome that ends the batch, it is in the same transaction.
  case events(pending: Bool)

  package struct Requeued: Sendable {
    package var row: Int64
    package var size: Int64
    package var modified: Int64

    package init(row: Int64, size: Int64, modified: Int64) {
      self.row = row
      self.size = size
      self.modified = modified
    }
  }
}

package struct NodeClosing: Sendable {
  package var round: Int64
  package var state: ItemState
  package var at: Instant
  package var failure: RecordedFailure?
  package var captures: [CapturedValue]
  /// Of a fetch that ended well: for the interval and the next conditional request.
  package var fetch: FetchRecord?

  package init(
    round: Int64, state: ItemState, at: Instant, failure: RecordedFailure? = nil,
    captures: [CapturedValue] = [], fetch: FetchRecord? = nil
  ) {
    self.round = round
    self.state = state
    self.at = at
    self.failure = failure
    self.captures = captures
    self.fetch = fetch
  }
}

/// What the next conditional request needs (RFC 9110 §13), and when it is due.
package struct FetchRecord: Hashable, Sendable {
  package var etag: String?
  package var lastModified: String?
  package var fetchedAt: Instant
  /// How long the next one waits; `nil` without an interval, and where an older ferry wrote it.
  package var interval: Duration?
  /// The file whose document the validators are of; `nil` where an older ferry wrote them.
  package var file: FileVersion?

  package init(
    etag: String?, lastModified: String?, fetchedAt: Instant, interval: Duration? = nil,
    file: FileVersion? = nil
  ) {
    self.file = file
    self.etag = etag
    self.lastModified = lastModified
    self.fetchedAt = fetchedAt
    self.interval = interval
  }
}
