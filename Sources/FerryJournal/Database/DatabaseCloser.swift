import GRDB
import Synchronization

/// Closes a connection when its last user is released, unless it is abandoned.
///
/// The `DatabaseQueue` itself is never released. GRDB attaches a value to the queue's dispatch queue, and
/// Dispatch destroys that value on one of its worker threads. If the system refuses to create a thread
/// (RLIMIT_NPROC, `pids.max`), releasing the queue would wait for a thread indefinitely. A closed connection
/// occupies a few hundred bytes.
final class DatabaseCloser: Sendable {
  private let queue: DatabaseQueue

  private struct Queues {
    var all: [ObjectIdentifier: DatabaseQueue] = [:]
    var abandoned: Set<ObjectIdentifier> = []
  }

  private static let queues = Mutex(Queues())

  init(_ queue: DatabaseQueue) {
    self.queue = queue
    Self.keep(queue)
  }

  deinit {
    guard !Self.queues.withLock({ $0.abandoned.contains(ObjectIdentifier(queue)) }) else { return }
    // A caller that needs the result has already closed the connection. A second close has no effect.
    try? queue.close()
  }

  private static func keep(_ queue: DatabaseQueue) {
    queues.withLock { $0.all[ObjectIdentifier(queue)] = queue }
  }

  /// Keeps a connection open until the process ends, so that SQLite never runs its checkpoint on close.
  /// After a failed write or sync, the log must not be copied into the database.
  static func abandon(_ queue: DatabaseQueue) {
    keep(queue)
    _ = queues.withLock { $0.abandoned.insert(ObjectIdentifier(queue)) }
  }
}
