import FerryPlan
import FerryProcess
import FerryTransfer

/// Matches responses against the regular expressions of their steps, one at a time on a thread of its own. The loop
/// keeps handling signals, timeouts and other transfers meanwhile.
///
/// The loop reads responses of steps without a regular expression itself.
final class SearchThread: Sendable {
  private let worker: SerialWorker
  private let messages: RunMessageQueue

  init(on worker: SerialWorker, messages: RunMessageQueue) {
    self.worker = worker
    self.messages = messages
  }

  /// `searched` is posted with the attempt's number and what was read.
  func read(_ id: UInt64, _ work: @escaping @Sendable () -> ResponseReading) {
    worker.submit { [messages] in messages.post(.searched(id, work())) }
  }
}
