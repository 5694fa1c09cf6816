import FerryPlan
import GRDB

/// The bytes that each kind of network carried, by quarter hour in UTC, shared by all processes of the user.
///
/// A process leases bytes before it transfers them, and converts its leases into usage as bytes are transferred. Both
/// usage and leases count as used. The leases of a dead process continue to count.
///
/// Each call is one short transaction. When it returns, the transaction survives the end of the process. It
/// is not synced: a power failure loses all transactions that were committed since the log last reached the
/// disk (docs/journal.md).
package final class Ledger: Sendable {
  /// Usage older than this is not part of any budget window, and may be deleted.
  package static let retention: Duration = .seconds(62 * 86_400)

  private let database: SharedDatabase
  /// The owner of this process's leases. Processes in different containers on one machine can have the same ID and the
  /// same start time.
  private let holder: LeaseOwner
  package var path: String { database.path }

  private init(_ database: SharedDatabase, holder: LeaseOwner) {
    self.database = database
    self.holder = holder
  }

  package static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> Ledger {
    try open(in: state, writtenBy: ferry, at: now, holder: .current)
  }

  /// Opens a ledger that processes on several machines share.
  package static func openShared(
    in folder: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> Ledger {
    Ledger(
      try .open(in: folder, durability: .eventually, isShared: true, writtenBy: ferry, at: now),
      holder: .current)
  }

  /// Opens the ledger with `holder` as the owner of its leases, as another process would.
  static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant, holder: LeaseOwner
  ) throws(JournalError) -> Ledger {
    Ledger(try .open(in: state, durability: .eventually, writtenBy: ferry, at: now), holder: holder)
  }

  /// Opens an existing file for reading without changing its folder. If there is no file, the ledger is empty.
  package static func openForReading(in state: StateDirectory) throws(JournalError) -> Ledger {
    Ledger(try .openForReading(in: state), holder: .current)
  }

  package func close() throws(JournalError) { try database.close() }

  /// The bytes that count in the window: the bytes transferred, and the leases of all processes, dead or
  /// alive.
  ///
  /// The windows of every calendar begin and end at a quarter hour in UTC. A quarter hour that another
  /// window overlaps only partly is counted completely.
  package func used(
    _ scope: Lease.Scope, in window: Range<Instant>
  ) throws(JournalError) -> Int64 {
    try database.read { try Self.used(scope, QuarterHour.range(of: window), $0, in: path) }
  }

  /// Leases bytes for this process, recorded in the quarter hour of `now`. If `now` is outside a window, the lease is
  /// recorded at the window's nearer end, so that it counts toward the window's limit.
  package func lease(_ request: Lease.Request, at now: Instant) throws(JournalError) -> Lease {
    let windows = request.limits.map { QuarterHour.range(of: $0.window) }
    var quarter = QuarterHour.of(now)
    for window in windows { quarter = max(window.lowerBound, min(quarter, window.upperBound - 1)) }
    return try database.write { db in
      var used: [Int64] = []
      for (limit, window) in zip(request.limits, windows) {
        used.append(try Self.used(limit.scope, window, db, in: path))
      }
      let granted = request.grant(used: used)
      if granted > 0 { try self.add(lease: granted, on: request.network, quarter: quarter, db) }
      return Lease(granted: granted, used: used)
    }
  }

  private func add(
    lease bytes: Int64, on network: DeviceConditions.Network, quarter: Int64, _ db: Database
  ) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO lease (network, quarter, pid, process_started, boot, bytes) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET bytes = bytes + min(excluded.bytes, \(Int64.max) - bytes)
        """)
    try statement.execute(
      arguments: [
        network.rawValue, quarter, Int64(holder.process.pid), holder.process.started, holder.place, bytes,
      ])
  }

  /// Records transferred bytes. They are taken from this process's leases, oldest first, each in its quarter
  /// hour. Bytes beyond the leases count in the quarter hour of `now`.
  package func settle(
    _ network: DeviceConditions.Network, bytes: Int64, at now: Instant
  ) throws(JournalError) {
    guard bytes > 0 else { return }
    try database.write { db in
      var rest = bytes
      for lease in try self.leases(of: network, db) where rest > 0 {
        let taken = min(rest, lease.bytes)
        try self.book(lease.bytes - taken, on: network, quarter: lease.quarter, db)
        try Self.add(taken, to: network, quarter: lease.quarter, db)
        rest -= taken
      }
      if rest > 0 { try Self.add(rest, to: network, quarter: QuarterHour.of(now), db) }
    }
  }

  /// Returns the unused bytes of this process's leases, except for `bytes`, which count from now on in the quarter hour of
  /// `now`, or of the latest lease if that is later.
  package func keep(
    _ bytes: Int64, of network: DeviceConditions.Network, at now: Instant
  ) throws(JournalError) {
    try database.write { db in
      let leases = bytes > 0 ? try self.leases(of: network, db) : []
      try db.execute(
        sql: "DELETE FROM lease WHERE network = ? AND pid = ? AND process_started = ? AND boot = ?",
        arguments: [network.rawValue, Int64(holder.process.pid), holder.process.started, holder.place])
      let kept = min(bytes, leases.reduce(0) { $0 +| $1.bytes })
      guard kept > 0, let last = leases.last else { return }
      try self.add(lease: kept, on: network, quarter: max(last.quarter, QuarterHour.of(now)), db)
    }
  }

  /// The number of rows of usage that are kept regardless of their age: more than 62 days produce on three
  /// networks. Therefore, a clock that is temporarily ahead does not cause the usage of a current window to
  /// be deleted.
  package static let keptRows = 20_000

  /// Deletes usage in quarter hours that ended at or before `limit` if there are more than `keptRows` rows.
  /// Also deletes, in these quarter hours, the leases of processes that no longer exist. The caller must not
  /// delete usage that is newer than `retention`.
  package func forget(
    before limit: Instant, keptRows: Int = keptRows, isAlive: (ProcessIdentity) -> Bool = { $0.isAlive }
  ) throws(JournalError) {
    let first = QuarterHour.of(limit)
    try database.write { db in
      try db.execute(
        sql: "DELETE FROM usage WHERE quarter < ? AND (SELECT count(*) FROM usage) > ?",
        arguments: [first, keptRows])
      let holders = try db.rows(
        "SELECT DISTINCT pid, process_started, boot FROM lease WHERE quarter < ?", [first], of: "lease",
        in: self.path
      ) { row in
        (
          pid: try row.value("pid", as: Int64.self),
          started: try row.value("process_started", as: Int64.self),
          boot: try row.value("boot", as: String.self)
        )
      }
      for (pid, started, boot) in holders {
        let place = boot.contains(" ") ? boot : boot + " - "  // Earlier versions recorded only the boot.
        if let owner = LeaseOwner("\(pid) \(started) \(place)"), isAlive(owner.process) { continue }
        try db.execute(
          sql: "DELETE FROM lease WHERE quarter < ? AND pid = ? AND process_started = ? AND boot = ?",
          arguments: [first, pid, started, boot])
      }
    }
  }

  /// Computes the sum in two halves, because SQLite's own sum fails if a 64-bit number overflows.
  private static func used(
    _ scope: Lease.Scope, _ quarters: Range<Int64>, _ db: Database, in file: String
  ) throws -> Int64 {
    let sums = try db.first(
      """
      SELECT coalesce(sum(bytes >> 32), 0) AS high, coalesce(sum(bytes & 4294967295), 0) AS low FROM (
        SELECT bytes FROM usage WHERE (?1 = 'any' OR network = ?1) AND quarter >= ?2 AND quarter < ?3
        UNION ALL SELECT bytes FROM lease WHERE (?1 = 'any' OR network = ?1) AND quarter >= ?2 AND quarter < ?3)
      """, [scope.rawValue, quarters.lowerBound, quarters.upperBound], of: "usage", in: file
    ) { (high: try $0.value("high", as: Int64.self), low: try $0.value("low", as: Int64.self)) }
    guard let (high, low) = sums else { return 0 }
    let (scaled, overflow) = high.multipliedReportingOverflow(by: 1 << 32)
    let (sum, carry) = scaled.addingReportingOverflow(low)
    return overflow || carry ? .max : sum
  }

  private static func add(
    _ bytes: Int64, to network: DeviceConditions.Network, quarter: Int64, _ db: Database
  ) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO usage (network, quarter, bytes) VALUES (?, ?, ?)
        ON CONFLICT DO UPDATE SET bytes = bytes + min(excluded.bytes, \(Int64.max) - bytes)
        """)
    try statement.execute(arguments: [network.rawValue, quarter, bytes])
  }

  /// This process's leases, oldest first.
  private func leases(
    of network: DeviceConditions.Network, _ db: Database
  ) throws -> [(quarter: Int64, bytes: Int64)] {
    try db.rows(
      """
      SELECT quarter, bytes FROM lease
      WHERE network = ? AND pid = ? AND process_started = ? AND boot = ? ORDER BY quarter
      """, [network.rawValue, Int64(holder.process.pid), holder.process.started, holder.place], of: "lease",
      in: path
    ) { row in
      let (quarter, bytes): (Int64, Int64) = (try row.value("quarter"), try row.value("bytes"))
      guard bytes >= 0 else { throw row.damaged("bytes", "\(bytes)") }
      return (quarter, bytes)
    }
  }

  /// Sets this process's lease in a quarter hour to `bytes`. If `bytes` is 0, removes the lease.
  private func book(
    _ bytes: Int64, on network: DeviceConditions.Network, quarter: Int64, _ db: Database
  ) throws {
    let key: StatementArguments = [
      network.rawValue, quarter, Int64(holder.process.pid), holder.process.started, holder.place,
    ]
    let condition = "network = ? AND quarter = ? AND pid = ? AND process_started = ? AND boot = ?"
    if bytes > 0 {
      try db.cachedStatement(sql: "UPDATE lease SET bytes = ? WHERE \(condition)")
        .execute(arguments: [bytes] + key)
    } else {
      try db.cachedStatement(sql: "DELETE FROM lease WHERE \(condition)").execute(arguments: key)
    }
  }
}
