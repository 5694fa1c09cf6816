import Synchronization
import Testing

@testable import FerryEngine

struct StopCheckTests {
  private struct Damaged: Error {}

  /// Reads a million rows. Returns whether all of them were read, and how many were read.
  private func read(_ check: StopCheck, damagedAt damaged: Int? = nil) throws -> (isAll: Bool, count: Int) {
    var count = 0
    let isAll = try check.forEachRow { check in
      for row in 0..<1_000_000 {
        try check()
        if row == damaged { throw Damaged() }
        count += 1
      }
    }
    return (isAll, count)
  }

  @Test func allRowsAreReadWithoutAStop() throws {
    #expect(try read(StopCheck(nil)) == (true, 1_000_000))
    #expect(try read(StopCheck { false }) == (true, 1_000_000))
    #expect(throws: Damaged.self) { try read(StopCheck { false }, damagedAt: 5) }
  }

  @Test func noRowIsReadAfterAStop() throws {
    #expect(try read(StopCheck { true }) == (false, 0))
  }

  @Test func aStopEndsTheReading() throws {
    let looks = Looks()
    let (isAll, count) = try read(StopCheck { looks.count.add(1, ordering: .relaxed).newValue > 10 })
    #expect(!isAll && (1..<1_000_000).contains(count))
  }

  private final class Looks: Sendable {
    let count = Atomic(0)
  }
}
