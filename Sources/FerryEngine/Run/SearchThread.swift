import FerryPlan
import FerryProcess
import FerryTransfer

/// Reads slow responses one at a time on a separate thread. In the meantime, the loop continues to handle
/// signals, timeouts and other transfers.
///
/// Slow responses are responses to steps with a regular expression, and responses with a large body. The
/// loop reads all others itself.
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
