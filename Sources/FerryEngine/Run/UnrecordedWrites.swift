import FerryJournal
import FerryProcess
import Synchronization

/// Stands in for the journals of work that is not journaled. Each write is reported as synced at the next turn of the
/// loop.
final class UnrecordedWrites: JournalAppending {
  private let messages: Mailbox<RunMessage>
  private let last = Mutex<UInt64>(0)

  init(_ messages: Mailbox<RunMessage>) { self.messages = messages }

  func append(_ writes: [JournalWrite], to journal: Int) throws(JournalError) -> UInt64 {
    last.withLock { $0 += 1 }
    return try sync()
  }

  func sync() throws(JournalError) -> UInt64 {
    let last = last.withLock { $0 }
    messages.post(.journal(.synced(through: last)))
    return last
  }
}
