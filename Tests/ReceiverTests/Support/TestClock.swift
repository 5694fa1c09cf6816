import Foundation
import Synchronization

/// A clock that moves only when a test advances it.
final class TestClock: Sendable {
  private let moment = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

  var now: @Sendable () -> Date { { self.moment.withLock { $0 } } }

  func advance(by seconds: Double) {
    moment.withLock { $0 += seconds }
  }
}
