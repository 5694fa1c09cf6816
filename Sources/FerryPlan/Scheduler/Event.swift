/// What happens to the scheduler.
package enum Event: Sendable {
  /// The launch begins.
  case launched
  /// Requests ended; all of one turn of the loop together.
  case finished([AttemptResult])
  /// Everything up to this `.record` action is written: safe from SIGKILL, not from a power cut.
  case written(through: UInt64)
  /// Everything up to this `.record` action is on disk.
  case synced(through: UInt64)
  /// The moment named by `nextWakeup` has come.
  case timer
  case stop(StopCause)
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
  /// The launch is over and everything it recorded is on disk.
  case end
}

/// One fact for the journal. Captured values are with whoever performs the attempts.
package enum JournalEntry: Hashable, Sendable {
  /// These items of the node's table begin their round.
  case handedOver(NodeID, items: Range<Int>, at: Instant)
  case intent(Place, ItemStep?)
  /// The intent certainly did not reach the wire, or the server refused it.
  case withdrawn(Place)
  case allocated(Place, expires: Instant?)
  case transferred(Place)
  /// The upload ID is of no use any more.
  case released(Place)
  case closed(Place, ItemState, RecordedFailure?, at: Instant)
}
