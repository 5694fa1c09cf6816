import FerryPlan
import FerryProcess
import Foundation
import GRDB
import Synchronization

/// The ownership of a shard's journal, for a limited time.
///
/// The kernel's lock on a session (`SessionLock`) is not sufficient for a shard: its processes run on several
/// machines, the file system might not enforce locks between machines, and a stopped process keeps its lock. A
/// lease is a row of the journal itself: an epoch, the owner, and a beat that the owner increments every third of
/// the lease's duration. A process may take the lease, and increment the epoch, if it has seen no beat for the
/// whole duration on its own clock; the clocks of two machines are never compared. Each transaction of the journal
/// checks the epoch (`SessionJournal.count`), so a process that has lost its lease writes nothing more. It sends
/// nothing more either, because `isHeld` is false as soon as its last beat is too old.
package final class SessionLease: Sendable {
  package enum Attempt {
    case acquired(SessionLease)
    /// Another process owns the journal, and renews its lease.
    case held(by: LeaseOwner?)
  }

  /// The shortest and the longest duration of a lease.
  package static let durations: ClosedRange<Duration> = .seconds(1)...(.seconds(3600))

  let epoch: Int64
  private let path: String
  private let queue: DatabaseQueue
  private let closer: DatabaseCloser
  private let duration: Duration
  private let condition = DeadlineCondition()

  private struct State {
    /// The time on `clock` until which this process owns the journal, according to its last beat.
    var until: Int64
    var isLost = false
    var isReleased = false
    var hasEnded = false
  }
  private let state: Mutex<State>

  fileprivate init(epoch: Int64, path: String, queue: DatabaseQueue, duration: Duration, since: Int64) {
    self.epoch = epoch
    self.path = path
    self.queue = queue
    closer = DatabaseCloser(queue)
    self.duration = duration
    state = Mutex(State(until: Self.end(of: duration, since: since)))
  }

  deinit { release() }

  /// A clock that also advances while the machine is suspended, in nanoseconds.
  static var clock: Int64 {
    var time = timespec()
    #if os(Linux)
    clock_gettime(CLOCK_BOOTTIME, &time)
    #else
    clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// A tenth of the duration is a margin for clocks that advance at different rates.
  private static func end(of duration: Duration, since: Int64) -> Int64 {
    since +| (duration.nanoseconds - duration.nanoseconds / 10)
  }

  /// Whether this process certainly still owns the journal. Once false, it stays false.
  package var isHeld: Bool {
    let now = Self.clock
    return state.withLock { state in
      if state.until <= now { state.isLost = true }
      return !state.isLost && !state.isReleased
    }
  }

  /// The error of a run that has lost the lease.
  package var loss: JournalError { JournalError.leaseLost(path) }

  /// Starts the thread that renews the lease.
  fileprivate func start() throws(JournalError) {
    do throws(ThreadUnavailable) {
      try SerialWorker("ferry-lease").submit { [weak self] in
        while let next = self?.renewAfterWait() { if !next { return } }
      }
    } catch {
      throw JournalError(.noThread, file: path, cause: "\(error)")
    }
  }

  /// Waits for a third of the duration, and renews the lease. Returns whether it must be renewed again.
  private func renewAfterWait() -> Bool {
    let deadline = DeadlineCondition.now + duration.nanoseconds / 3
    condition.withLock {
      while !state.withLock(\.isReleased), DeadlineCondition.now < deadline {
        condition.wait(until: deadline)
      }
    }
    guard isHeld else { return false }
    renew()
    return isHeld
  }

  /// Increments the beat. If the journal cannot be written, the next attempt may still succeed in time.
  private func renew() {
    let since = Self.clock
    let renewed: Bool? = try? queue.writeWithoutTransaction { db in
      try db.inImmediateTransaction { db in
        try db.execute(
          sql: "UPDATE session SET lease_beat = lease_beat + 1, lease_renewed_at = ? WHERE lease_epoch = ?",
          arguments: [LeaseRow.wallTime, epoch])
        return db.changesCount == 1
      }
    }
    state.withLock { state in
      guard state.until > Self.clock else { return state.isLost = true }
      switch renewed {
      case true?: state.until = Self.end(of: duration, since: since)
      case false?: state.isLost = true
      case nil: break
      }
    }
  }

  /// Releases the lease, so that the next process does not have to wait. A second call has no effect.
  package func release() {
    let wasHeld = state.withLock { state in
      defer { state.isReleased = true }
      return !state.isReleased
    }
    guard wasHeld else { return }
    condition.withLock { condition.wakeAll() }
    // If this fails, the next process waits until the lease has expired.
    try? queue.writeWithoutTransaction { db in
      try db.execute(
        sql: "UPDATE session SET lease_owner = NULL WHERE lease_epoch = ?", arguments: [epoch])
    }
    try? queue.close()
  }
}

/// The lease as it is stored in the journal.
struct LeaseRow: Equatable {
  var epoch: Int64
  var beat: Int64
  /// `nil` if nobody owns the journal.
  var owner: String?
  var duration: Duration

  static var wallTime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  static func read(_ db: Database, in file: String) throws -> LeaseRow {
    let row = try db.first(
      "SELECT id, lease_epoch, lease_beat, lease_owner, lease_duration FROM session", [], of: "session",
      in: file
    ) { row in
      LeaseRow(
        epoch: try row.value("lease_epoch"), beat: try row.value("lease_beat"),
        owner: try row.optional("lease_owner"),
        // A damaged journal may contain any duration.
        duration: min(
          max(
            .nanoseconds(try row.value("lease_duration", as: Int64.self)), SessionLease.durations.lowerBound),
          SessionLease.durations.upperBound))
    }
    guard let row else {
      throw JournalError(.damaged, file: file, cause: "the table session has no row")
    }
    return row
  }
}

extension SessionJournal {
  /// Takes the lease of the journal. If another process owns the lease, waits until that process has released
  /// it or ended, or the lease has expired. Once the process shows that it is alive, waits no longer than
  /// `limit`.
  ///
  /// - Parameter limit: the maximum wait for a process that is alive, counted from the call.
  package func acquireLease(
    for duration: Duration, atMost limit: Duration = .zero
  ) throws(JournalError) -> SessionLease.Attempt {
    let owner = LeaseOwner.current
    let giveUp = SessionLease.clock +| limit.nanoseconds
    var seen: (row: LeaseRow, since: Int64)?
    var isAlive = false
    while true {
      let row = try access { try LeaseRow.read($0, in: self.path) }
      let now = SessionLease.clock
      let other = row.owner.flatMap { LeaseOwner($0) }
      let isFree = row.owner == nil || other?.hasEnded == true
      if let before = seen, before.row != row { isAlive = true }
      if seen?.row != row { seen = (row, now) }
      let isExpired = seen.map { $0.since +| row.duration.nanoseconds <= now } ?? false
      if isFree || isExpired {
        if let lease = try take(row, owner, for: duration) { return .acquired(lease) }
        continue
      }
      guard !isAlive || now < giveUp else { return .held(by: other) }
      usleep(50_000)
    }
  }

  /// Takes the lease if it is still as it was read.
  private func take(
    _ row: LeaseRow, _ owner: LeaseOwner, for duration: Duration
  ) throws(JournalError) -> SessionLease? {
    let since = SessionLease.clock
    let epoch = min(row.epoch, .max - 1) + 1
    let found: Int64? = try access { db in
      try db.inImmediateTransaction { db in
        guard try LeaseRow.read(db, in: self.path) == row else { return nil }
        try db.execute(
          sql: """
            UPDATE session SET lease_epoch = ?, lease_beat = 0, lease_owner = ?, lease_duration = ?,
            lease_renewed_at = ?
            """,
          arguments: [epoch, owner.text, duration.nanoseconds, LeaseRow.wallTime])
        return try Self.transactions(db)
      }
    }
    guard let found else { return nil }
    // The previous owner may have written to the journal since it was opened.
    try commits?.takeOver(committed: found)
    own(epoch: epoch)
    let queue = try DatabaseFile(path: path, schema: .session, isShared: true).openAnother()
    let lease = SessionLease(epoch: epoch, path: path, queue: queue, duration: duration, since: since)
    try lease.start()
    return lease
  }
}
