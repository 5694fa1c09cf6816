import FerryJournal
import Foundation

/// Simulates a slow disk: holds each sync of a log until the test decides its result. If an expected sync does not
/// begin, the test fails after a minute.
final class SyncGate: @unchecked Sendable {
  // Guarded by `condition`.
  private var begun = 0
  private var released = 0
  private var failing: Int?
  private let condition = NSCondition()

  var call: JournalWriter.SyncCall {
    { _ in
      self.condition.lock()
      defer { self.condition.unlock() }
      self.begun += 1
      let number = self.begun
      self.condition.broadcast()
      while number > self.released { self.condition.wait() }
      guard number == self.failing else { return 0 }
      errno = EIO
      return -1
    }
  }

  /// The number of syncs that have begun.
  var count: Int {
    condition.lock()
    defer { condition.unlock() }
    return begun
  }

  /// Waits until this many syncs have begun. Returns `false` after a minute.
  func waitForSync(_ number: Int) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let limit = Date(timeIntervalSinceNow: 60)
    while begun < number {
      if !condition.wait(until: limit) { return false }
    }
    return true
  }

  /// Lets all syncs up to this number end. The sync with the number `failing` fails with EIO.
  func release(_ count: Int = .max, failing: Int? = nil) {
    condition.lock()
    defer { condition.unlock() }
    self.failing = failing
    released = count
    condition.broadcast()
  }
}
