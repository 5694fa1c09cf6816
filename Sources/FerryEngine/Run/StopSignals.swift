import FerryPlan
import FerryProcess
import Foundation

/// Turns SIGINT, SIGTERM and SIGHUP into messages, so that they do not terminate the process. The second
/// signal ends requests immediately.
final class StopSignals {
  private let watch: SignalWatch

  /// - Parameters:
  ///   - hangUp: the message for SIGHUP. If SIGHUP is already ignored (nohup), it stays ignored.
  ///   - thread: calls `deliver`.
  init(hangUp: RunMessage, on thread: PollThread, _ deliver: @escaping @Sendable (RunMessage) -> Void) {
    let messages = [SIGINT: RunMessage.stop(.interrupt), SIGTERM: .stop(.terminate), SIGHUP: hangUp]
      .filter { number, _ in number != SIGHUP || !SignalWatch.isIgnored(number) }
    watch = SignalWatch(Array(messages.keys), on: thread) { number in
      if let messages = messages[number] { deliver(messages) }
    }
  }
}
