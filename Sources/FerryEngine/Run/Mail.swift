import FerryJournal
import FerryPlan
import FerryTransfer
import Synchronization

/// What other threads tell the run loop.
enum Mail: Sendable {
  case journal(JournalEvent)
  case stop(StopCause)
  /// The terminal is gone.
  case hangUp
  case leased(Lease, for: Lease.Request)
  /// The machine has these now.
  case conditions(DeviceConditions)
  /// Someone has left a note for one of the run's sessions.
  case inbox
  /// The response to this attempt has been read on the search thread.
  case searched(UInt64, ResponseReading)
}

extension Mail {
  var isStop: Bool {
    switch self {
    case .stop: true
    case .journal, .hangUp, .leased, .conditions, .inbox, .searched: false
    }
  }
}

/// Where they leave it; leaving something ends the loop's wait.
final class MailSlot: Sendable {
  private let letters = Mutex<[Mail]>([])
  private let waker: TransferWaker

  init(waker: TransferWaker) { self.waker = waker }

  func post(_ mail: Mail) {
    letters.withLock { $0.append(mail) }
    waker.wake()
  }

  /// Whether a letter that asks for the run's end waits to be taken.
  var hasStop: Bool { letters.withLock { $0.contains(where: \.isStop) } }

  func take() -> [Mail] {
    letters.withLock { letters in
      defer { letters.removeAll(keepingCapacity: true) }
      return letters
    }
  }
}
