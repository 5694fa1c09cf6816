import FerryJournal
import FerryPlan
import FerryProcess
import Synchronization

/// Keeps the ledger of what the sockets carry: asks it for leases, and turns them into usage.
///
/// The ledger is written on a thread of its own, in the order of the calls, so that another process's write never
/// stops the transfers. A failure ends the run: what cannot be written down is not sent.
final class UsageRecorder: Sendable {
  /// What is moved without a budget is written down in pieces of this size, and at the end.
  private static let piece: Int64 = 1 << 20

  private let ledger: Ledger
  private let worker: SerialWorker
  private let messages: RunMessageQueue
  private let clock: LaunchClock
  /// Of the sockets: told to the scheduler, and submitted to the worker.
  private let counted = Mutex((told: Int64(0), settled: Int64(0)))
  private let failure = Mutex<JournalError?>(nil)

  init(_ ledger: Ledger, on worker: SerialWorker, messages: RunMessageQueue, clock: LaunchClock) {
    self.ledger = ledger
    self.worker = worker
    self.messages = messages
    self.clock = clock
  }

  func lease(_ request: Lease.Request) {
    write { [clock] ledger throws(JournalError) in
      try ledger.lease(
        request.network, minimum: request.minimum, wanted: request.wanted, limit: request.limit,
        window: request.window, at: clock.now)
    } then: { [messages] lease in
      messages.post(.leased(lease, for: request))
    }
  }

  func release(_ network: DeviceConditions.Network) {
    write { ledger throws(JournalError) in try ledger.release(network) }
  }

  /// - Parameter total: what the sockets have carried since the launch began.
  /// - Returns: what the scheduler was not told of yet.
  func moved(total: Int64, on network: DeviceConditions.Network) -> Int64 {
    settle(total: total, on: network, from: Self.piece)
    return counted.withLock { counted in
      defer { counted.told = total }
      return total -| counted.told
    }
  }

  /// Writes down what was moved and is not written down yet: before leases are given back, and before the network
  /// is another.
  func settle(total: Int64, on network: DeviceConditions.Network, from least: Int64 = 1) {
    let bytes = counted.withLock { counted in
      let bytes = total -| counted.settled
      if bytes >= least { counted.settled = total }
      return bytes
    }
    guard bytes >= least else { return }
    write { [clock] ledger throws(JournalError) in
      try ledger.settle(network, bytes: bytes, at: clock.now)
    }
  }

  /// Waits until everything is written down; throws what went wrong, now or before.
  func finish(total: Int64, on network: DeviceConditions.Network) throws(JournalError) {
    settle(total: total, on: network)
    release(network)
    worker.drain()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func write<Answer: Sendable>(
    _ body: @escaping @Sendable (Ledger) throws(JournalError) -> Answer,
    then: @escaping @Sendable (Answer) -> Void = { _ in }
  ) {
    worker.submit { [self] in
      do throws(JournalError) {
        then(try body(ledger))
      } catch {
        failure.withLock { $0 = $0 ?? error }
        messages.post(.journal(.failed(error)))
      }
    }
  }
}
