import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct LedgerTests {
  let state: TemporaryState
  /// A window of one day from midnight UTC.
  let day = Instant.start..<Instant.start(plus: 86_400)

  init() throws { state = try TemporaryState() }

  private func open(_ holder: LeaseOwner = .current) throws -> Ledger {
    try Ledger.open(in: state.directory, writtenBy: "0.0-test", at: .start, holder: holder)
  }

  private func ghost(_ number: Int64 = 1) -> LeaseOwner {
    var ghost = LeaseOwner.current
    ghost.process.started += number
    return ghost
  }

  private func rows(_ table: String) throws -> [Int64: Int64] {
    try SharedDatabase.openForReading(in: state.directory).read { db in
      Dictionary(
        try Row.fetchAll(db, sql: "SELECT quarter, bytes FROM \(table)").map { ($0["quarter"], $0["bytes"]) }
      ) { $0 + $1 }
    }
  }

  @Test func aLimitIsGrantedToItsLastByteAndNoFurther() throws {
    let ledger = try open()
    func lease(_ wanted: Int64, minimum: Int64 = 10) throws -> Lease {
      try ledger.lease(.wifi, minimum: minimum, wanted: wanted, limit: 100, window: day, at: .start(plus: 5))
    }
    #expect(try lease(60) == .init(granted: 60, used: [0]))
    // 40 bytes remain. A lease gets at most 40, or nothing if the caller needs more.
    #expect(try lease(60, minimum: 41) == .init(granted: 0, used: [60]))
    #expect(try lease(60) == .init(granted: 40, used: [60]))
    #expect(try lease(60) == .init(granted: 0, used: [100]))
    #expect(try lease(0, minimum: 0) == .init(granted: 0, used: [100]))
    #expect(try ledger.used(.wifi, in: day) == 100)
    #expect(try ledger.used(.cellular, in: day) == 0)
    // The last file may be smaller than the minimum.
    try ledger.keep(0, of: .wifi, at: .start)
    #expect(try lease(3) == .init(granted: 3, used: [0]))
  }

  @Test func withoutALimitEveryRequestIsGranted() throws {
    let ledger = try open()
    for _ in 0..<2 {
      let lease = try ledger.lease(.wired, minimum: 1, wanted: 70, limit: nil, window: nil, at: .start)
      #expect(lease == .init(granted: 70, used: []))
    }
    #expect(try ledger.used(.wired, in: day) == 140)
  }

  @Test func everyLimitOfARequestIsKept() throws {
    let ledger = try open()
    let hour = Instant.start..<Instant.start.advanced(by: .seconds(3_600))
    func lease(_ network: DeviceConditions.Network, own: Int64, all: Int64, isStrict: Bool = true) throws
      -> Lease
    {
      let scope = try #require(Lease.Scope(network))
      return try ledger.lease(
        .init(
          network: network, minimum: 10, wanted: 100,
          limits: [
            .init(scope: scope, bytes: own, window: hour, isStrict: true),
            .init(scope: .any, bytes: all, window: day, isStrict: isStrict),
          ]), at: .start)
    }
    #expect(try lease(.wifi, own: 60, all: 1_000) == .init(granted: 60, used: [0, 0]))
    // The other network has a separate limit, and shares the common one.
    #expect(try lease(.wired, own: 1_000, all: 100) == .init(granted: 40, used: [0, 60]))
    #expect(try lease(.wired, own: 1_000, all: 105) == .init(granted: 0, used: [40, 100]))
    // If a limit is not strict, a lease is granted while at least one byte remains.
    #expect(try lease(.wired, own: 90, all: 101, isStrict: false) == .init(granted: 50, used: [40, 100]))
    #expect(try lease(.wired, own: 1_000, all: 150, isStrict: false) == .init(granted: 0, used: [90, 150]))
    #expect(try ledger.used(.any, in: day) == 150)
  }

  @Test func aLimitBelowCurrentUsageGrantsNothing() throws {
    let ledger = try open()
    try ledger.settle(.wifi, bytes: 500, at: .start)
    for limit in [499, 0, -1, .min] as [Int64] {
      let lease = try ledger.lease(.wifi, minimum: 0, wanted: 1, limit: limit, window: day, at: .start)
      #expect(lease == .init(granted: 0, used: [500]))
    }
  }

  @Test func aLeaseOutsideItsWindowIsBookedAtTheNearerEnd() throws {
    let ledger = try open()
    for (seconds, granted) in [(-1, 60), (86_400, 40)] as [(Int64, Int64)] {
      let lease = try ledger.lease(
        .wifi, minimum: 1, wanted: 60, limit: 100, window: day, at: .start(plus: seconds))
      #expect(lease.granted == granted)
    }
    let first = QuarterHour.of(.start)
    #expect(try rows("lease") == [first: 60, first + 95: 40])
  }

  @Test func aWindowIsTheSumOfItsQuarterHours() throws {
    let ledger = try open()
    for quarter in 0..<96 as Range<Int64> {
      try ledger.settle(
        .wifi, bytes: 1 << quarter.quotientAndRemainder(dividingBy: 48).remainder,
        at: .start(plus: quarter * 900 + quarter))
    }
    // Kathmandu's day begins at 18:15 UTC.
    let cut = Instant.start(plus: 73 * 900)
    let before = try ledger.used(.wifi, in: .start..<cut)
    let after = try ledger.used(.wifi, in: cut..<day.upperBound)
    #expect(before == (1 << 48) - 1 + (1 << 25) - 1)
    #expect(before + after == (try ledger.used(.wifi, in: day)))
    #expect(try ledger.used(.wifi, in: cut..<cut) == 0)
    #expect(try ledger.used(.wifi, in: .start(plus: 899)..<Instant.start(plus: 901)) == 3)
    #expect(try ledger.used(.wifi, in: Instant(nanoseconds: .min)..<Instant.distantFuture) == before + after)
  }

  @Test func quarterHoursAreCountedFrom1970() {
    #expect(QuarterHour.of(Instant(nanoseconds: 0)) == 0)
    #expect(QuarterHour.of(Instant(nanoseconds: QuarterHour.nanoseconds - 1)) == 0)
    #expect(QuarterHour.of(Instant(nanoseconds: QuarterHour.nanoseconds)) == 1)
    #expect(QuarterHour.of(Instant(nanoseconds: -1)) == -1)
    #expect(QuarterHour.of(Instant(nanoseconds: -QuarterHour.nanoseconds)) == -1)
    #expect(QuarterHour.of(.start) * QuarterHour.nanoseconds == Instant.start.nanoseconds)
  }

  @Test func sentBytesAreTakenFromTheOldestLease() throws {
    let ledger = try open()
    let other = try open(ghost())
    for quarter in 0..<3 as Range<Int64> {
      for ledger in [ledger, other] {
        _ = try ledger.lease(
          .wifi, minimum: 1, wanted: 100, limit: nil, window: nil, at: .start(plus: quarter * 900))
      }
    }
    let first = QuarterHour.of(.start)
    try ledger.settle(.wifi, bytes: 150, at: .start(plus: 3 * 900))
    #expect(try rows("usage") == [first: 100, first + 1: 50])
    #expect(try rows("lease") == [first: 100, first + 1: 150, first + 2: 200])
    #expect(try ledger.used(.wifi, in: day) == 600)
    // 150 bytes remain in this process's leases. Bytes beyond them count once they have been transferred.
    try ledger.settle(.wifi, bytes: 157, at: .start(plus: 3 * 900))
    try ledger.settle(.wifi, bytes: 0, at: .start)
    try ledger.settle(.wifi, bytes: -5, at: .start)
    #expect(try rows("usage") == [first: 100, first + 1: 100, first + 2: 100, first + 3: 7])
    #expect(try rows("lease") == [first: 100, first + 1: 100, first + 2: 100])
    #expect(try ledger.used(.wifi, in: day) == 607)
  }

  @Test func theRestOfALeaseIsReturned() throws {
    let ledger = try open()
    let other = try open(ghost())
    for ledger in [ledger, other] {
      for network in [.wifi, .wired] as [DeviceConditions.Network] {
        _ = try ledger.lease(network, minimum: 1, wanted: 100, limit: 200, window: day, at: .start)
      }
    }
    try ledger.settle(.wifi, bytes: 30, at: .start)
    try ledger.keep(0, of: .wifi, at: .start)
    try ledger.keep(0, of: .wifi, at: .start)
    #expect(try ledger.used(.wifi, in: day) == 130)
    #expect(try ledger.used(.wired, in: day) == 200)
  }

  /// The bytes are sent after the end of an hour, but in the same day.
  @Test func aPartOfTheLeasesCanMoveToTheNextWindow() throws {
    let (ledger, other) = (try open(), try open(ghost()))
    for ledger in [ledger, other] {
      for plus in [0, 1_800] as [Int64] {
        _ = try ledger.lease(
          .wifi, minimum: 1, wanted: 100, limit: nil, window: nil, at: .start(plus: plus))
      }
    }
    try ledger.settle(.wifi, bytes: 30, at: .start)
    let first = QuarterHour.of(.start)
    for (kept, left) in [(120, 120), (150, 120), (50, 50)] as [(Int64, Int64)] {
      try ledger.keep(kept, of: .wifi, at: .start(plus: 3_600))
      #expect(try rows("lease") == [first: 100, first + 2: 100, first + 4: left])
    }
    // A clock that was set back does not move them to the window that has ended.
    try ledger.keep(40, of: .wifi, at: .start)
    #expect(try rows("lease") == [first: 100, first + 2: 100, first + 4: 40])
    #expect(try ledger.used(.wifi, in: day) == 30 + 200 + 40)
  }

  @Test func theLeaseOfADeadProcessStaysCounted() throws {
    let dead = try open(ghost())
    _ = try dead.lease(.wifi, minimum: 1, wanted: 90, limit: 100, window: day, at: .start)
    try dead.settle(.wifi, bytes: 20, at: .start)
    let ledger = try open()
    try ledger.keep(0, of: .wifi, at: .start)
    let lease = try ledger.lease(.wifi, minimum: 1, wanted: 90, limit: 100, window: day, at: .start)
    #expect(lease == .init(granted: 10, used: [90]))
  }

  @Test func concurrentLeasesNeverExceedTheLimit() throws {
    let limit: Int64 = 100_000
    let state = state
    let day = day
    let tally = Tally()
    let holders = [ghost(1), ghost(2)]
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      do {
        let ledger = try Ledger.open(
          in: state.directory, writtenBy: "0.0-test", at: .start, holder: holders[index])
        for round in 0..<300 as Range<Int64> {
          let lease = try ledger.lease(
            .cellular, minimum: 100, wanted: 700 + round, limit: limit, window: day,
            at: .start(plus: round * 60))
          // Half of the lease is used, and the rest is returned.
          try ledger.settle(.cellular, bytes: lease.granted / 2, at: .start(plus: round * 60))
          try ledger.keep(0, of: .cellular, at: .start)
          tally.add(moved: lease.granted / 2, used: (lease.used.first ?? 0) + lease.granted)
        }
        try ledger.close()
      } catch {
        tally.record(error)
      }
    }
    #expect(tally.errors.isEmpty)
    #expect(tally.highest <= limit && tally.moved > limit - 200)
    let used = try Ledger.openForReading(in: state.directory).used(.cellular, in: day)
    #expect(used == tally.moved)
  }

  @Test func sumsSaturateAtTheLargestNumber() throws {
    let ledger = try open()
    for _ in 0..<2 {
      for seconds in [0, 900, 1800] as [Int64] {
        try ledger.settle(.wifi, bytes: .max, at: .start(plus: seconds))
      }
    }
    #expect(try ledger.used(.wifi, in: day) == .max)
    for _ in 0..<2 {
      let lease = try ledger.lease(.wifi, minimum: 1, wanted: .max, limit: nil, window: nil, at: .start)
      #expect(lease == .init(granted: .max, used: []))
    }
    let lease = try ledger.lease(.wifi, minimum: 1, wanted: .max, limit: .max, window: day, at: .start)
    #expect(lease == .init(granted: 0, used: [.max]))
    try ledger.settle(.wifi, bytes: .max, at: .start)
    #expect(try ledger.used(.wifi, in: day) == .max)
  }

  @Test func aProcessDoesNotReturnTheLeaseOfAnotherContainerWithItsID() throws {
    var other = LeaseOwner.current
    other.namespaces += "x"
    let (ledger, second) = (try open(), try open(other))
    for ledger in [ledger, second] {
      _ = try ledger.lease(.wifi, minimum: 1, wanted: 50, limit: 100, window: day, at: .start)
    }
    try second.keep(0, of: .wifi, at: .start)
    #expect(try ledger.used(.wifi, in: day) == 50)
    try ledger.settle(.wifi, bytes: 50, at: .start)
    #expect(try ledger.used(.wifi, in: day) == 50)
  }

  @Test func onlyOldLeasesOfDeadProcessesAreForgotten() throws {
    let ledger = try open()
    let dead = try open(ghost())
    for seconds in [0, 899, 900] as [Int64] {
      try ledger.settle(.wifi, bytes: 1, at: .start(plus: seconds))
    }
    for ledger in [ledger, dead] {
      for seconds in [0, 900] as [Int64] {
        _ = try ledger.lease(
          .wifi, minimum: 1, wanted: 10, limit: nil, window: nil, at: .start(plus: seconds))
      }
    }
    let first = QuarterHour.of(.start)
    try ledger.forget(before: .start(plus: 899), keptRows: 0)
    #expect(try rows("usage") == [first: 2, first + 1: 1] && rows("lease") == [first: 20, first + 1: 20])
    try ledger.forget(before: .start(plus: 900), keptRows: 0)
    #expect(try rows("usage") == [first + 1: 1] && rows("lease") == [first: 10, first + 1: 20])
    #expect(Ledger.retention == .seconds(62 * 24 * 3600))
  }

  /// Otherwise, a clock that is ahead for a while would delete the usage of a current window.
  @Test func usageIsForgottenOnlyIfThereIsMuch() throws {
    let ledger = try open()
    for seconds in [0, 900, 1800] as [Int64] {
      try ledger.settle(.wifi, bytes: 1, at: .start(plus: seconds))
    }
    try ledger.forget(before: .start(plus: 1 << 30))
    try ledger.forget(before: .start(plus: 1 << 30), keptRows: 3)
    #expect(try rows("usage").count == 3)
    try ledger.forget(before: .start(plus: 1800), keptRows: 2)
    #expect(try rows("usage").count == 1)
  }

  @Test func readingForAPlanChangesNothingInTheFolder() throws {
    #expect(try Ledger.openForReading(in: state.directory).used(.wifi, in: day) == 0)
    #expect(!FileManager.default.fileExists(atPath: state.directory.path))
    let ledger = try open()
    try ledger.settle(.wifi, bytes: 7, at: .start)
    try ledger.close()
    let before = try state.contents()
    let reader = try Ledger.openForReading(in: state.directory)
    #expect(try reader.used(.wifi, in: day) == 7)
    #expect(throws: JournalError.self) { try reader.settle(.wifi, bytes: 1, at: .start) }
    try reader.close()
    #expect(try state.contents() == before)
  }

  @Test func theLedgerIsStoredNextToTheHistory() throws {
    let history = try RunHistory.open(in: state.directory, writtenBy: "0.0-test", at: .start)
    let ledger = try open()
    try ledger.settle(.wifi, bytes: 7, at: .start)
    #expect(try history.openRound(manifest: "m", at: .start).number == 1)
    #expect(ledger.path == history.path)
    #expect(try ledger.used(.wifi, in: day) == 7)
  }

  @Test func aFileOfTheSecondSchemaIsMigrated() throws {
    try state.directory.create()
    let old = DatabaseSchema(
      applicationID: DatabaseSchema.history.applicationID,
      migrations: Array(DatabaseSchema.history.migrations.prefix(2)))
    try DatabaseFile(path: state.directory.history, schema: old)
      .openForWriting(durability: .everyCommit, writtenBy: "0.0-old", at: .start).close()
    let before = try state.contents()
    let reader = try Ledger.openForReading(in: state.directory)
    #expect(try reader.used(.wifi, in: day) == 0)
    try reader.close()
    #expect(try state.contents() == before)
    let ledger = try open()
    try ledger.settle(.wifi, bytes: 7, at: .start)
    #expect(try ledger.used(.wifi, in: day) == 7)
  }

  /// `@unchecked Sendable`: `lock` guards the state.
  private final class Tally: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var moved: Int64 = 0
    private(set) var highest: Int64 = 0
    private(set) var errors: [any Error] = []

    func add(moved bytes: Int64, used: Int64) {
      lock.withLock {
        moved += bytes
        highest = max(highest, used)
      }
    }

    func record(_ error: any Error) { lock.withLock { errors.append(error) } }
  }
}

extension Ledger {
  /// Requests a lease under one limit, or under none.
  fileprivate func lease(
    _ network: DeviceConditions.Network, minimum: Int64, wanted: Int64, limit: Int64?,
    window: Range<Instant>?, at now: Instant
  ) throws(JournalError) -> Lease {
    var request = Lease.Request(network: network, minimum: minimum, wanted: wanted, limits: [])
    if let limit, let window, let scope = Lease.Scope(network) {
      request.limits = [.init(scope: scope, bytes: limit, window: window, isStrict: true)]
    }
    return try lease(request, at: now)
  }
}
