/// An event handled by the scheduler.
package enum Event: Sendable {
  /// The launch begins.
  case launched
  /// All requests that completed in one turn of the loop.
  case finished([AttemptResult])
  /// The server has assigned an upload resource to this attempt, which may still be running.
  case resourceAssigned(UInt64, ResourceAssignment)
  /// All entries up to this `.record` action are on disk.
  case synced(through: UInt64)
  /// The time returned by `nextWakeup` has been reached.
  case timer
  case stop(StopCause)
  /// The machine's network or power source has changed.
  case conditions(DeviceConditions)
  /// The number of bytes transferred on the sockets since the last such event.
  case moved(Int64)
  /// The ledger's reply to `.lease`.
  case leased(Lease, for: Lease.Request)
  /// The terminal of a foreground launch has hung up (SIGHUP).
  case hangUp
  /// `ferry cancel`: the session's work, for one manifest or for all, ends as canceled. With `finishing`,
  /// requests that have begun, and the steps that follow them, run to completion. `failure` is recorded with the
  /// canceled work.
  case cancelled(SessionID, of: ManifestID? = nil, finishing: Bool, failure: RecordedFailure = .cancelled)
  /// `ferry cancel --drain`: the work that was queued in the session, for one manifest or for all, runs to
  /// completion, and no new work is queued. `failure` is recorded with the canceled work.
  case drained(SessionID, of: ManifestID? = nil, failure: RecordedFailure = .cancelled)
  /// Other items have the upload IDs of these orphans, so the IDs are not released.
  case uploadIDsInUse([ItemRef])
  /// `ferry submit`: more items for an upload.
  case submitted(NodeID, ItemTable)
  /// The reply to `.list`.
  case listed(NodeID, UploadList)
}

/// The assignment of an upload resource to a transfer. The code that performs the attempts keeps the URL.
package struct ResourceAssignment: Hashable, Sendable {
  /// The limits that the server has stated; `nil` if it has stated none.
  package var limit: UploadLimit?
  /// The time at which the resource expires, if the response states it.
  package var expires: Instant?
  /// The origins of the steps that use the resource.
  package var origins: [Step.Kind: Origin]
  /// Orphans with the same resource, which the server has assigned again.
  package var regained: [ItemRef]

  package init(
    limit: UploadLimit? = nil, origins: [Step.Kind: Origin] = [:], regained: [ItemRef] = []
  ) {
    self.limit = limit
    self.origins = origins
    self.regained = regained
  }
}

/// The files of an upload whose list was read during the launch.
package enum UploadList: Sendable {
  /// The whole list, or its last portion.
  ///
  /// - `items`: the items that the launch does not have yet.
  /// - `settled`: the files for which the launch has nothing to do.
  case items(ItemTable, settled: Reconciliation.Settled)
  /// A portion after which further files follow.
  case portion(ItemTable)
  /// The list or the root cannot be read.
  case unreadable(RecordedFailure)
}

/// An action that the scheduler requests. Actions are performed in order.
package enum Action: Sendable {
  case start(Attempt)
  /// Cancel an attempt. The scheduler still expects its result.
  case cancel(UInt64)
  /// Record these entries. `.record` actions are numbered in order, starting at 1.
  case record([JournalEntry])
  /// Flush the recorded entries to disk now instead of within the usual 50 ms.
  case sync
  /// Request a lease from the ledger, which replies with `.leased`.
  case lease(Lease.Request)
  /// Read the list of an upload that is about to open, or list the next portion of its files. The reply is `.listed`.
  case list(NodeID)
  /// Return the unused part of the leases, except for this number of bytes, which count from now on in the present window:
  /// the window or a request has ended, the network has changed, or the launch is ending.
  case keepLeases(Int64)
  /// The execution window has ended: start `on_expiry`.
  case windowExpired
  /// The launch has ended and all its records are on disk.
  case end
}

/// One change to be recorded in the journal. The captured values are kept by the code that performs the attempts.
package enum JournalEntry: Hashable, Sendable {
  /// These items in the node's table begin their round.
  case itemsQueued(NodeID, items: Range<Int>, at: Instant)
  case intentRecorded(ItemRef, ItemStep?)
  /// The request was certainly not sent, or the server refused it.
  case intentWithdrawn(ItemRef)
  case uploadIDAllocated(ItemRef, expires: Instant?)
  /// The server has confirmed another number of the file's bytes. The entry is only for display; a later
  /// launch asks the server.
  case transferAdvanced(ItemRef, bytes: Int64)
  /// The server has stated another expiry of the item's upload ID.
  case uploadIDUpdated(ItemRef, expires: Instant?)
  case fileTransferred(ItemRef)
  /// The item no longer has its upload ID, and starts over at its allocation or, without `allocate`, at its
  /// transfer.
  case uploadIDDiscarded(ItemRef)
  /// The item, or the node with a single request, has ended in this state.
  case itemClosed(ItemRef, ItemState, RecordedFailure?, at: Instant)
  /// The attempts of a fetch with an interval failed in this launch, and the fetch has not ended in its round.
  case fetchFailed(NodeID, RecordedFailure, at: Instant)
  /// The time at which the node failed for the first time in its round, although it has not ended; `nil` if it no longer
  /// fails.
  case nodeFailing(NodeID, since: Instant?)
  /// The item's upload ID will not be used: it becomes the upload's orphan with this number. The next entry
  /// removes the ID from the item.
  case uploadIDOrphaned(ItemRef, as: Int, Orphaning, at: Instant)
  /// The upload ID no longer has to be released: it was released, or an item uses it.
  case orphanResolved(ItemRef)
  /// The orphan was not released, for this reason.
  case orphanReleaseFailed(ItemRef, RecordedFailure, at: Instant)
  /// The session's delay after a resume or a reset.
  case sessionResumed(SessionID, ResumeState)
  /// The time up to which work queued in the session is not inferred to be discretionary.
  case sessionInForeground(SessionID, until: Instant)
  /// A batch of the session has completed: its `on_events` must be started.
  case batchCompleted(SessionID)
}
