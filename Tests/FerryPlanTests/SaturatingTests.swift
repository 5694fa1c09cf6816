import FerryManifest
import Testing

@testable import FerryPlan

struct SaturatingTests {
  @Test func sumsStopAtTheEndsOfTheRange() {
    #expect(Int64.max +| 1 == .max)
    #expect(Int64.min +| -1 == .min)
    #expect(Int64.max +| Int64.min == -1)
    #expect(UInt8(250) +| 10 == 255)
    var sum = Int64.max - 1
    sum +|= 5
    #expect(sum == .max)
  }

  @Test func differencesStopAtTheEndsOfTheRange() {
    #expect(Int64.min -| 1 == .min)
    #expect(Int64.max -| -1 == .max)
    #expect(0 -| Int64.min == .max)
    #expect(UInt8(3) -| 5 == 0)
    var rest = Int64.min + 1
    rest -|= 5
    #expect(rest == .min)
  }

  @Test func productsStopAtTheEndsOfTheRange() {
    #expect(Int64.max *| 2 == .max)
    #expect(Int64.max *| -2 == .min)
    #expect(Int64.min *| -1 == .max)
    #expect(Int64.min *| 2 == .min)
    #expect(Int64(3) *| -4 == -12)
  }

  @Test func trafficThatCannotBeCountedIsTheLargestNumber() {
    var traffic = Traffic(bodySent: .max, bodyReceived: 1)
    traffic += Traffic(bodySent: 1, headersSent: 2)
    #expect(traffic == Traffic(bodySent: .max, bodyReceived: 1, headersSent: 2))
    #expect(traffic.total == .max)
  }

  /// tmpfs and XFS allow sparse files of 8 EiB.
  @Test func filesWhoseSizesAddUpToMoreThanFitsArePlanned() {
    var table = ItemTable()
    for row in 1...3 {
      table.append(
        path: Array("f\(row)".utf8)[...], size: .max - 4095, modified: 0, row: Int64(row), entry: .new)
    }
    let items = PlanDocument.Items(table, .init(), .init())
    #expect(items.toSend == 3)
    #expect(items.bytesToSend == .max)
  }

  @Test func aBudgetCountsNoFurtherThanTheLargestNumber() {
    let budget = Budget(limit: .max, per: .day, cutoff: .soft, timeZone: "UTC")
    var gate = BudgetGate(
      network: .wifi, limits: [.init(.wifi, budget, zone: .utc, at: .distantFuture)])
    for _ in 0..<3 { gate.answered(Lease(granted: .max, used: [.max])) }
    #expect(gate.held == .max)
    #expect(gate.limits.map(\.used) == [.max])
    #expect(gate.room == .max)
    gate.moved(.max)
    #expect(gate.held == 0)
  }

  @Test func anInstantInWholeSecondsIsRoundedToTheNearest() {
    #expect(Instant(wholeSeconds: .max) == .distantFuture)
    #expect(Instant(wholeSeconds: .min).nanoseconds == .min)
    #expect(Instant(wholeSeconds: .max, nanoseconds: .max) == .distantFuture)
    #expect(Instant(wholeSeconds: -9_223_372_037, nanoseconds: 145_224_192).nanoseconds == .min)
    #expect(Instant(wholeSeconds: 1, nanoseconds: 5).nanoseconds == 1_000_000_005)
  }

  @Test(arguments: [
    ("2262-04-11T23:47:16Z", true), ("2262-04-11T23:47:17Z", false), ("1677-09-21T00:12:44Z", true),
    ("1677-09-21T00:12:42Z", false), ("9999-12-31T23:59:59Z", false), ("0000-01-01T00:00Z", false),
    ("2262-04-12T01:47:16+02:00", true), ("2262-04-11T23:47:16-00:01", false), ("2026-03-29T10:00", true),
  ])
  func aWrittenMomentIsWithinTheRangeOrNot(text: String, isWithin: Bool) throws {
    let written = try #require(WrittenMoment(text))
    #expect((written.moment(in: .utc) != nil) == isWithin)
    if isWithin { #expect(written.moment(in: .utc) == written.nearest(in: .utc)) }
  }
}
