import FerryJournal
import FerryPlan
import FerryProcess
import FerryTransfer

/// A message from another thread to the run loop.
enum RunMessage: Sendable {
  case journal(JournalEvent)
  case stop(StopCause)
  /// The terminal has hung up.
  case hangUp
  case leased(Lease, for: Lease.Request)
  /// The machine's conditions have changed to these.
  case conditions(DeviceConditions)
  /// A note has arrived in the inbox of one of the run's sessions.
  case inbox
  /// Other items have the upload IDs of these orphans.
  case uploadIDsInUse([ItemRef])
  /// The response to this attempt has been read on the search thread.
  case searched(UInt64, ResponseReading)
  /// A further portion of the upload's files has been listed.
  case filesListed(NodeID)
  /// A child process has ended.
  case childEnded
}

extension RunMessage {
  var isStop: Bool {
    switch self {
    case .stop: true
    case .journal, .hangUp, .leased, .conditions, .inbox, .uploadIDsInUse, .searched, .filesListed,
      .childEnded:
      false
    }
  }

  /// Whether a signal is the cause of the message.
  var isSignal: Bool {
    switch self {
    case .stop, .hangUp: true
    case .journal, .leased, .conditions, .inbox, .uploadIDsInUse, .searched, .filesListed, .childEnded: false
    }
  }
}

extension Mailbox<RunMessage> {
  /// The messages that the run loop has not handled yet. Posting a message ends the loop's wait.
  convenience init(waker: TransferWaker) { self.init { waker.wake() } }

  /// Whether a message that stops the run is waiting.
  var hasStop: Bool { contains(where: \.isStop) }
}
