import FerryPlan
import GRDB

/// The bytes that each kind of network carried, by quarter hour of UTC: shared by every process of the user.
///
/// A process sends against leases, and turns them into usage as bytes are really moved; what both say
/// together is what was used. What a dead process had leased stays counted.
///
/// Each call is one short transaction, safe as it returns when the process is killed. It is not synced: a
/// power cut takes what was committed since the log was last brought to the disk (docs/journal.md).
package final class Ledger: Sendable {
  /// What is older than this is in no window of a manifest, and may be forgotten.
  package static let retention: Duration = .seconds(62 * 86_400)

  private let database: SharedDatabase
  private let holder: ProcessIdentity
  package var path: String { database.path }

  private init(_ database: SharedDatabase, holder: ProcessIdentity) {
    self.database = database
    self.holder = holder
  }

  package static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant
  ) throws(JournalError) -> Ledger {
    try open(in: state, writtenBy: ferry, at: now, holder: .current)
  }

  /// As another process would: the leases are `holder`'s.
  static func open(
    in state: StateDirectory, writtenBy ferry: String, at now: Instant, holder: ProcessIdentity
  ) throws(JournalError) -> Ledger {
    Ledger(try .open(in: state, durability: .eventually, writtenBy: ferry, at: now), holder: holder)
  }

  /// Opens what there is, for a plan, and changes nothing in the folder; without a file it is empty.
  package static func openForReading(in state: StateDirectory) throws(JournalError) -> Ledger {
    Ledger(try .openForReading(in: state), holder: .current)
  }

  package func close() throws(JournalError) { try database.close() }

  /// The bytes that count in the window: what was moved, and what anyone has leased, dead or alive.
  ///
  /// Every calendar's window begins and ends at a quarter hour of UTC; a quarter hour that another window
  /// only touches counts as a whole.
  package func used(
    _ network: DeviceConditions.Network, in window: Range<Instant>
  ) throws(JournalError) -> Int64 {
    try database.read { try Self.used(network, QuarterHour.range(of: window), $0, in: path) }
  }

  /// Leases bytes for this process, booked in the quarter hour of `now`.
  ///
  /// - Parameters:
  ///   - minimum: with less than this left, nothing is granted.
  ///   - wanted: what is granted at most; all of it without a limit.
  ///   - limit: of the bytes that count in the window, this grant included.
  ///   - window: where the limit holds; everything that the ledger holds if `nil`. If `now` lies outside,
  ///     the lease is booked at the nearer end of it, so that the limit is kept.
  package func lease(
    _ network: DeviceConditions.Network, minimum: Int64, wanted: Int64, limit: Int64?,
    window: Range<Instant>?, at now: Instant
  ) throws(JournalError) -> Lease {
    let quarters = window.map(QuarterHour.range(of:)) ?? Int64.min..<Int64.max
    let quarter = max(quarters.lowerBound, min(QuarterHour.of(now), quarters.upperBound - 1))
    return try database.write { db in
      let used = try Self.used(network, quarters, db, in: path)
      let left = limit.map { $0 > used ? $0 - used : 0 } ?? .max
      let granted = left < minimum ? 0 : max(0, min(wanted, left))
      if granted > 0 {
        let statement = try db.cachedStatement(
          sql: """
            INSERT INTO lease (network, quarter, pid, process_started, boot, bytes) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET bytes = bytes + min(excluded.bytes, \(Int64.max) - bytes)
            """)
        try statement.execute(
          arguments: [network.rawValue, quarter, Int64(holder.pid), holder.started, holder.boot, granted])
      }
      return Lease(granted: granted, used: used)
    }
  }

  /// Writes down bytes that were really moved: out of this process's leases, the oldest first, each in its
  /// quarter hour; what goes beyond them counts in the quarter hour of `now`.
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

  /// Gives back what is left of this process's leases; a second call does nothing.
  package func release(_ network: DeviceConditions.Network) throws(JournalError) {
    try database.write { db in
      try db.execute(
        sql: "DELETE FROM lease WHERE network = ? AND pid = ? AND process_started = ? AND boot = ?",
        arguments: [network.rawValue, Int64(holder.pid), holder.started, holder.boot])
    }
  }

  /// Drops usage of quarter hours that ended at `limit` or before, and the leases in them of processes that
  /// are gone. The caller keeps `retention`.
  package func forget(
    before limit: Instant, isAlive: (ProcessIdentity) -> Bool = { $0.isAlive }
  ) throws(JournalError) {
    let first = QuarterHour.of(limit)
    try database.write { db in
      try db.execute(sql: "DELETE FROM usage WHERE quarter < ?", arguments: [first])
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
        // What is no pid is no process.
        let process = Int32(exactly: pid).map { ProcessIdentity(pid: $0, started: started, boot: boot) }
        if let process, isAlive(process) { continue }
        try db.execute(
          sql: "DELETE FROM lease WHERE quarter < ? AND pid = ? AND process_started = ? AND boot = ?",
          arguments: [first, pid, started, boot])
      }
    }
  }

  /// Two sums in halves: SQLite's own ends with an error where one of 64 bits overflows.
  private static func used(
    _ network: DeviceConditions.Network, _ quarters: Range<Int64>, _ db: Database, in file: String
  ) throws -> Int64 {
    let sums = try db.first(
      """
      SELECT coalesce(sum(bytes >> 32), 0) AS high, coalesce(sum(bytes & 4294967295), 0) AS low FROM (
        SELECT bytes FROM usage WHERE network = ?1 AND quarter >= ?2 AND quarter < ?3
        UNION ALL SELECT bytes FROM lease WHERE network = ?1 AND quarter >= ?2 AND quarter < ?3)
      """, [network.rawValue, quarters.lowerBound, quarters.upperBound], of: "usage", in: file
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

  /// This process's, the oldest first.
  private func leases(
    of network: DeviceConditions.Network, _ db: Database
  ) throws -> [(quarter: Int64, bytes: Int64)] {
    try db.rows(
      """
      SELECT quarter, bytes FROM lease
      WHERE network = ? AND pid = ? AND process_started = ? AND boot = ? ORDER BY quarter
      """, [network.rawValue, Int64(holder.pid), holder.started, holder.boot], of: "lease", in: path
    ) { row in
      let (quarter, bytes): (Int64, Int64) = (try row.value("quarter"), try row.value("bytes"))
      guard bytes >= 0 else { throw row.damaged("bytes", "\(bytes)") }
      return (quarter, bytes)
    }
  }

  /// Leaves this process so much of its lease in a quarter hour; a lease of nothing is none.
  private func book(
    _ bytes: Int64, on network: DeviceConditions.Network, quarter: Int64, _ db: Database
  ) throws {
    let key: StatementArguments = [
      network.rawValue, quarter, Int64(holder.pid), holder.started, holder.boot,
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
