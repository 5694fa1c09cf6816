import FerryPlan
import FerryProcess
import Foundation

/// SIGINT, SIGTERM and SIGHUP as mail, so that they do not end the process. The second signal ends requests at once.
final class StopSignals {
  private let watch: SignalWatch

  /// - Parameters:
  ///   - hangUp: what SIGHUP means; one that is ignored already (nohup) stays so.
  ///   - thread: calls `deliver`.
  init(hangUp: Mail, on thread: PollThread, _ deliver: @escaping @Sendable (Mail) -> Void) {
    let mail = [SIGINT: Mail.stop(.interrupt), SIGTERM: .stop(.terminate), SIGHUP: hangUp]
      .filter { number, _ in number != SIGHUP || !SignalWatch.isIgnored(number) }
    watch = SignalWatch(Array(mail.keys), on: thread) { number in
      if let mail = mail[number] { deliver(mail) }
    }
  }
}
