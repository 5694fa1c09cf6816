import FerryPlan
import Synchronization

/// Signals that come before a run's loop begins, while files are read: they end that, and the loop begins stopped.
final class EarlyStop: Sendable {
  private let letters = Mutex<[Mail]>([])

  /// The first stop that was asked for.
  var cause: StopCause? {
    letters.withLock { letters in
      for case .stop(let cause) in letters { return cause }
      return nil
    }
  }

  /// Whether the terminal went meanwhile.
  var hasHungUp: Bool {
    letters.withLock { $0.contains { if case .hangUp = $0 { true } else { false } } }
  }

  /// Calls `body` while signals are listened to; before and after it they do what they do by default.
  ///
  /// - Parameter hangUp: what SIGHUP means.
  func listen(hangUp: Mail, _ body: () -> Void) {
    let signals = StopSignals(hangUp: hangUp) { [self] mail in letters.withLock { $0.append(mail) } }
    withExtendedLifetime(signals, body)
  }
}
