import FerryPlan
import FerryProcess
import Foundation

/// SIGINT, SIGTERM and SIGHUP as mail, so that they do not end the process. The second signal ends requests at once.
final class StopSignals {
  private let watch: SignalWatch

  /// - Parameters:
  ///   - hangUp: what SIGHUP means; one that is ignored already (nohup) stays so.
  ///   - thread: calls `deliver`.
  init(hangUp: RunMessage, on thread: PollThread, _ deliver: @escaping @Sendable (RunMessage) -> Void) {
    let messages = [SIGINT: RunMessage.stop(.interrupt), SIGTERM: .stop(.terminate), SIGHUP: hangUp]
      .filter { number, _ in number != SIGHUP || !SignalWatch.isIgnored(number) }
    watch = SignalWatch(Array(messages.keys), on: thread) { number in
      if let messages = messages[number] { deliver(messages) }
    }
  }
}
