import FerryJournal
import FerryPlan
import FerryProcess
import Synchronization

/// Records the sockets' traffic in the ledger: requests leases, and converts them into usage.
///
/// The ledger is written on a separate thread, in the order of the calls, so that a write by another process
/// never blocks the transfers. A failure ends the run, because traffic that cannot be recorded must not be
/// sent.
final class UsageRecorder: Sendable {
  /// The minimum number of bytes per record if there is no budget. The remainder is recorded at the end.
  private static let piece: Int64 = 1 << 20

  private let ledger: Ledger
  private let worker: SerialWorker
  private let messages: Mailbox<RunMessage>
  private let clock: LaunchClock
  /// The bytes that were reported to the scheduler, and the bytes that were submitted to the worker.
  private let counted: Mutex<(reported: Int64, settled: Int64)>
  private let failure = Mutex<JournalError?>(nil)

  /// - Parameter settled: the bytes of the same sockets that another recorder has already recorded.
  init(
    _ ledger: Ledger, on worker: SerialWorker, messages: Mailbox<RunMessage>, clock: LaunchClock,
    after settled: Int64 = 0
  ) {
    counted = Mutex((reported: settled, settled: settled))
    self.ledger = ledger
    self.worker = worker
    self.messages = messages
    self.clock = clock
  }

  func lease(_ request: Lease.Request) {
    write { [clock] ledger throws(JournalError) in
      try ledger.lease(request, at: clock.now)
    } then: { [messages] lease in
      messages.post(.leased(lease, for: request))
    }
  }

  /// Records the transferred bytes, and returns the leases except for this many bytes.
  ///
  /// - Parameters:
  ///   - bytes: as the scheduler knows them: it has not counted the most recent transfers yet.
  ///   - total: the bytes that the sockets have transferred since the launch began.
  func keep(_ bytes: Int64, total: Int64, on network: DeviceConditions.Network) {
    settle(total: total, on: network)
    let kept = max(0, bytes -| counted.withLock { total -| $0.reported })
    write { [clock] ledger throws(JournalError) in try ledger.keep(kept, of: network, at: clock.now) }
  }

  /// Records the transferred bytes in the usage ledger, once they amount to a whole piece.
  ///
  /// - Parameter total: the bytes that the sockets have transferred since the launch began.
  /// - Returns: the bytes not yet reported to the scheduler.
  func moved(total: Int64, on network: DeviceConditions.Network) -> Int64 {
    settle(total: total, on: network, from: Self.piece)
    return counted.withLock { counted in
      defer { counted.reported = total }
      return total -| counted.reported
    }
  }

  /// Records the bytes that have not been recorded yet. Called before leases are returned and before the
  /// network changes.
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

  /// Waits until everything is recorded. Throws the first failure of any write, including earlier ones.
  func finish(total: Int64, on network: DeviceConditions.Network) throws(JournalError) {
    keep(0, total: total, on: network)
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
