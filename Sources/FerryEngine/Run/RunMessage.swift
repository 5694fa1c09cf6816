import FerryJournal
import FerryPlan
import FerryTransfer
import Synchronization

/// A message from another thread to the run loop.
enum RunMessage: Sendable {
  case journal(JournalEvent)
  case stop(StopCause)
  /// The terminal is gone.
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
}

extension RunMessage {
  var isStop: Bool {
    switch self {
    case .stop: true
    case .journal, .hangUp, .leased, .conditions, .inbox, .uploadIDsInUse, .searched: false
    }
  }
}

/// The messages that the run loop has not handled yet. Posting one ends the loop's wait.
final class RunMessageQueue: Sendable {
  private let waiting = Mutex<[RunMessage]>([])
  private let waker: TransferWaker

  init(waker: TransferWaker) { self.waker = waker }

  func post(_ message: RunMessage) {
    waiting.withLock { $0.append(message) }
    waker.wake()
  }

  /// Whether a message that stops the run is waiting.
  var hasStop: Bool { waiting.withLock { $0.contains(where: \.isStop) } }

  func take() -> [RunMessage] {
    waiting.withLock { messages in
      defer { messages.removeAll(keepingCapacity: true) }
      return messages
    }
  }
}
