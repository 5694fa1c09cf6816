import FerryJournal
import Foundation

/// Collects a writer's events and waits for them. If an event does not arrive, the test fails after a minute.
final class EventLog: @unchecked Sendable {
  // Guarded by `condition`.
  private var events: [JournalEvent] = []
  private let condition = NSCondition()

  var post: @Sendable (JournalEvent) -> Void {
    { event in
      self.condition.lock()
      self.events.append(event)
      self.condition.broadcast()
      self.condition.unlock()
    }
  }

  /// Waits until this write is synced.
  func waitForSync(through sequence: UInt64) -> Bool {
    wait { events in
      events.contains { if case .synced(let through) = $0 { through >= sequence } else { false } }
    }
  }

  /// The sequence numbers that were reported as synced so far, in order.
  var syncs: [UInt64] {
    condition.lock()
    defer { condition.unlock() }
    return events.compactMap { if case .synced(let through) = $0 { through } else { nil } }
  }

  func waitForFailure() -> JournalError? {
    _ = wait { _ in false }
    return failure
  }

  var failure: JournalError? {
    condition.lock()
    defer { condition.unlock() }
    return events.compactMap { if case .failed(let error) = $0 { error } else { nil } }.first
  }

  private func wait(for isMet: ([JournalEvent]) -> Bool) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    let limit = Date(timeIntervalSinceNow: 60)
    while !isMet(events) {
      if events.contains(where: { if case .failed = $0 { true } else { false } }) { return false }
      if !condition.wait(until: limit) { return false }
    }
    return true
  }
}
