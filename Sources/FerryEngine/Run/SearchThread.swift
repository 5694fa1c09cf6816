import FerryPlan
import FerryProcess
import FerryTransfer

/// Reads responses that take long to read, one at a time on its own thread. The loop keeps handling signals, timeouts
/// and other transfers meanwhile.
///
/// These are responses to steps with a regular expression, and responses with a large body. The loop reads all others
/// itself.
final class SearchThread: Sendable {
  private let worker: SerialWorker
  private let messages: Mailbox<RunMessage>

  init(on worker: SerialWorker, messages: Mailbox<RunMessage>) {
    self.worker = worker
    self.messages = messages
  }

  /// Posts `searched` with the attempt's ID and the result.
  func read(_ id: UInt64, _ work: @escaping @Sendable () -> ResponseReading) {
    worker.submit { [messages] in messages.post(.searched(id, work())) }
  }
}
