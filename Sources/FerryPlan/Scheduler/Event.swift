/// What happens to the scheduler.
package enum Event: Sendable {
  /// The launch begins.
  case launched
  /// Requests ended; all of one turn of the loop together.
  case finished([AttemptResult])
  /// Everything up to this `.record` action is on disk.
  case synced(through: UInt64)
  /// The moment named by `nextWakeup` has come.
  case timer
  case stop(StopCause)
  /// The machine has another network or power now.
  case conditions(DeviceConditions)
  /// The sockets have moved so many bytes since this was last told.
  case moved(Int64)
  /// The ledger's answer to `.lease`.
  case leased(Lease, for: Lease.Request)
  /// The terminal of a foreground launch is gone (SIGHUP).
  case hangUp
  /// `ferry cancel`: what lives in the session, of one manifest or of all, is ended as cancelled; `finishing` lets requests that were begun,
  /// and what follows them, come to their end.
  case cancelled(SessionID, of: ManifestID? = nil, finishing: Bool)
  /// Other items have the upload IDs of these orphans, so they are not released.
  case uploadIDsInUse([ItemRef])
  /// `ferry submit`: further items of an upload.
  case submitted(NodeID, ItemTable)
}

/// Why a launch is ended early. Raw values are written down; never reuse one.
package enum StopCause: String, Codable, Sendable {
  /// SIGINT: start nothing, give requests their grace, save.
  case interrupt = "interrupt"
  /// SIGTERM: likewise.
  case terminate = "terminate"
  /// The launch's deadline has come: likewise.
  case maxDuration = "max_duration"
  /// A second signal, or a fault of ferry's own: end requests now.
  case now = "now"
}

/// What the scheduler wants done, in order.
package enum Action: Sendable {
  case start(Attempt)
  /// End it; its result is still awaited.
  case cancel(UInt64)
  /// Write these down; numbered from 1 in the order of these actions.
  case record([JournalEntry])
  /// Bring what was recorded to the disk now, not within the usual 50 ms.
  case sync
  /// Ask the ledger; `.leased` answers.
  case lease(Lease.Request)
  /// Give back what is leased and not moved: the window has ended, or the network is another.
  case releaseLeases
  /// The launch is over and everything it recorded is on disk.
  case end
}

/// One fact for the journal. Captured values are with whoever performs the attempts.
package enum JournalEntry: Hashable, Sendable {
  /// These items of the node's table begin their round.
  case handedOver(NodeID, items: Range<Int>, at: Instant)
  case intent(ItemRef, ItemStep?)
  /// The intent certainly did not reach the wire, or the server refused it.
  case withdrawn(ItemRef)
  case allocated(ItemRef, expires: Instant?)
  case transferred(ItemRef)
  /// The upload ID is of no use any more.
  case released(ItemRef)
  case closed(ItemRef, ItemState, RecordedFailure?, at: Instant)
  /// The item's upload ID will not be used: it becomes an orphan of the upload, which has this number. What forgets
  /// it is the next entry.
  case orphaned(ItemRef, as: Int, Orphaning, at: Instant)
  /// The orphan is none any more: it was released, or the server has given its ID out again.
  case settled(ItemRef)
  /// The orphan was not released, and why.
  case notReleased(ItemRef, RecordedFailure, at: Instant)
  /// What a resume, or a reset of its delay, makes of a session's delay.
  case resumed(SessionID, ResumeState)
  /// A batch of the session is through: its `on_events` is owed.
  case batchThrough(SessionID)
}
