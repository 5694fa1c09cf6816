import FerryPlan

/// One change to a session's journal. Changes are written in the order in which they happened.
package enum JournalWrite: Sendable {
  /// Items queued for the first time, in this round. Their rows are `firstRow`, `firstRow + 1`, …
  case insert(node: Int64, round: Int64, handedOver: Instant, firstRow: Int64, files: FileColumns)
  /// Known items that are queued again because of a new round or a changed file. With `firstOrphan`, their
  /// upload IDs become orphans `firstOrphan`, `firstOrphan + 1`, … by position; without it, the items have no
  /// upload IDs. The ID that a delivered item has kept becomes an orphan in doubt.
  case requeue(round: Int64, handedOver: Instant, files: [Requeued], firstOrphan: Int64? = nil)
  /// Items from an earlier round continue in this round, with all their state.
  case adopt(round: Int64, handedOver: Instant, rows: [Int64])
  /// A commit, or a step that is never resent, is about to be sent. This write must be synced first.
  ///
  /// - Parameters:
  ///   - key: the idempotency key that a `commit` carries; `nil` if it carries none. The other steps do not change the
  ///     recorded key.
  ///   - holds: what waits for the intent.
  case intent(row: Int64, step: ItemStep, key: CommitKey? = nil, holds: HeldByIntent = .connection)
  /// The announced request certainly did not reach the network, or the server refused it.
  case withdraw(row: Int64)
  /// The `allocate` step has completed. Clears the intent.
  case allocated(row: Int64, captures: [CapturedValue], expires: Instant?)
  /// The number of the file's bytes that the server has confirmed, for display. It is valid while the item
  /// has an upload ID and its transfer is not complete.
  case confirmedBytes(row: Int64, Int64)
  /// The servers to which an upload ID or a transferred file belongs. The write that records the ID or the transfer
  /// follows in the same append.
  case servers(row: Int64, String)
  /// The server has the complete file. Clears the intent.
  case transferred(row: Int64, captures: [CapturedValue], sha256: [UInt8]?)
  /// The upload ID can no longer be used. The item is queued again without its captures.
  case released(row: Int64)
  /// The end of the item in this round. Clears the intent and the captures (an ambiguous item keeps both).
  ///
  /// - Parameter keepsUploadID: for a delivered item, whether its captures are kept because another item has
  ///   the same upload ID.
  case closed(
    row: Int64, state: ItemState, at: Instant, failure: RecordedFailure?, keepsUploadID: Bool = false)
  /// The item's upload ID becomes an orphan with this ID. The write that clears the upload ID follows in the
  /// same append.
  case orphaned(row: Int64, orphan: Int64, Orphaning, at: Instant)
  /// The orphan was released, or its ID is in use again.
  case orphanSettled(orphan: Int64)
  /// Another upload may use the orphan's ID, so it must not be released.
  case orphanDoubted(orphan: Int64)
  /// The orphan was not released, for this reason.
  case orphanKept(orphan: Int64, failure: RecordedFailure, at: Instant)
  /// Identifies the sent file by its inode, its root, and its digest if requested. A `nil` value leaves the
  /// stored one unchanged.
  case source(row: Int64, inode: UInt64?, root: FolderIdentity? = nil, sha256: [UInt8]?)
  /// Delivered files that still have the delivered content, with their current modification times.
  case confirmed([ContentQuestions.Confirmed])
  /// The pending action for a delivered file, or the action's result. If `.owed` is appended together with
  /// the end of the item, both are in the same transaction.
  case after(row: Int64, AfterState)
  /// The pending action for a delivered file was tried and failed. It remains pending.
  case afterTried(row: Int64)
  /// A fetch's or request's unrepeatable attempt is about to be sent; see `intent`.
  case nodeIntent(node: Int64, round: Int64)
  case nodeWithdraw(node: Int64)
  /// The attempts of a fetch failed, but the fetch has not ended in this round.
  case fetchFailed(node: Int64, round: Int64, failure: RecordedFailure, at: Instant)
  /// The node failed for the first time in this round, and has not ended; `nil` if it no longer fails.
  case nodeFailing(node: Int64, round: Int64, since: Instant?)
  /// The end of a fetch or request in this round.
  case nodeClosed(node: Int64, NodeClosing)
  /// The session was resumed, and the start of further work is delayed by the period; `nil` ends the delay.
  case resumed(period: Duration?, at: Instant?)
  /// The time up to which work queued in the session is not inferred to be discretionary.
  case foreground(until: Instant)
  /// Whether the session's `on_events` must still be started for a completed batch. If this write is appended together
  /// with the outcome that completes the batch, both are in the same transaction.
  case events(pending: Bool)

  /// What waits until an intent is on disk.
  package enum HeldByIntent: Hashable, Sendable {
    /// A connection may be unused until then.
    case connection
    /// Only the request. Other requests use the connections, so one sync may cover several intents. Once there are `group`
    /// of them, further intents may wait for them, so they are synced.
    case requestOnly(group: Int)
  }

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
  /// For a successful fetch: the data for its interval and for its next conditional request.
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
