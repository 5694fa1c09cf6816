import Testing

@testable import FerryTransfer

/// Simulated calls to libcurl, in intervals of a second.
@Suite struct CallChecksTests {
  private let limits = StuckTurnGuard.Limits()

  private let nothing = CallChecks.Activity(hasCalledBack: false, passed: 0)

  /// libcurl reads a million bytes in each interval, from one connection after another, as many intervals as `turn`
  /// from each unless it is shut down. On the others, data waits.
  private struct TurnTaking {
    var connections: Int
    let turn: Int
    /// The number of bytes passed to ferry in each interval.
    var passed: Int64 = 0
    var mustStopAfter = Int.max

    /// Returns the number of intervals until no connection remains, and the connections that were shut down.
    func run(_ limits: StuckTurnGuard.Limits) -> (intervals: Int, shutDown: Set<CInt>) {
      var waiting = Array(0..<CInt(connections))
      let unread = CallChecks.Sample(read: 0, unread: 1)
      var samples = Dictionary(uniqueKeysWithValues: waiting.map { ($0, unread) })
      var checks = CallChecks(samples, limits)
      var (intervals, turns, shutDown) = (0, 0, Set<CInt>())
      while let current = waiting.first {
        intervals += 1
        turns += 1
        samples[current]?.read? += 1_000_000
        checks.add(
          samples, .init(hasCalledBack: passed > 0, passed: passed), mustStop: intervals > mustStopAfter)
        let stuck = checks.stuck
        for descriptor in stuck { samples[descriptor] = nil }
        shutDown.formUnion(stuck)
        waiting.removeAll { stuck.contains($0) }
        if waiting.first == current, turns == turn {
          waiting.removeFirst()
          samples[current]?.unread = 0
        }
        if waiting.first != current { turns = 0 }
      }
      return (intervals, shutDown)
    }
  }

  @Test(arguments: [1, 2, 3, 28], [1, 3, 6, 500])
  func aWastefulCallEndsWhateverTheNumberOfConnections(turn: Int, connections: Int) {
    for passed: Int64 in [0, 2, 100_000] {
      let call = TurnTaking(connections: connections, turn: turn, passed: passed)
      #expect(call.run(limits).intervals <= limits.wasteful + limits.rest)
    }
  }

  @Test(arguments: [1, 5, 28], [1, 3, 6, 500])
  func aCallEndsSoonIfTheRunIsToStop(turn: Int, connections: Int) {
    for passed: Int64 in [0, 1_000_000] {
      let call = TurnTaking(connections: connections, turn: turn, passed: passed, mustStopAfter: 3)
      #expect(call.run(limits).intervals <= 3 + limits.rest)
    }
  }

  /// For example, a thousand downloads share a slow disk.
  @Test(arguments: [1, 100]) func aCallThatPassesItsDataIsNotInterrupted(turn: Int) {
    let (intervals, shutDown) = TurnTaking(connections: 50, turn: turn, passed: 900_000).run(limits)
    #expect(intervals == 50 * turn && shutDown.isEmpty)
  }

  /// Connections that take turns are shut down one by one before those on which data only waits.
  @Test func connectionsThatAreNotReadAreSparedAtFirst() {
    let honest = CallChecks.Sample(read: 0, unread: 100)
    var checks = CallChecks([1: .init(read: 0, unread: 1), 2: .init(read: 0, unread: 1), 3: honest], limits)
    var shutDown: [CInt] = []
    for megabytes in Int64(1)...4 {
      let (first, second) = (min(megabytes, 2), max(0, megabytes - 2))
      let samples: [CInt: CallChecks.Sample] = [
        1: .init(read: first << 20, unread: 1), 2: .init(read: second << 20, unread: 1), 3: honest,
      ]
      checks.add(samples, nothing, mustStop: false)
      shutDown += checks.stuck
    }
    #expect(shutDown == [2])
  }

  /// Data that waits, or arrives, during a write to a slow disk.
  @Test func intervalsWithoutReadingAreNotCounted() {
    var checks = CallChecks([1: .init(read: 0, unread: 1), 2: .init(read: nil, unread: 1)], limits)
    for second in Int64(1)...100 {
      checks.add(
        [1: .init(read: 0, unread: second), 2: .init(read: nil, unread: second)], nothing, mustStop: false)
      #expect(checks.stuck.isEmpty && checks.hang == nil)
    }
  }

  @Test func aSocketThatDoesNotCountItsBytesIsReadIfItsUnreadBytesDecrease() {
    var checks = CallChecks([1: .init(read: nil, unread: 1), 2: .init(read: nil, unread: 9)], limits)
    var (intervals, shutDown): (Int, [CInt]) = (0, [])
    while shutDown.isEmpty, intervals < 100 {
      intervals += 1
      let unread: Int64 = intervals.isMultiple(of: 2) ? 70_000 : 100_000
      checks.add(
        [1: .init(read: nil, unread: unread), 2: .init(read: nil, unread: 9)], nothing, mustStop: false)
      shutDown = checks.stuck
    }
    #expect(shutDown == [1] && intervals == 2 * limits.wasteful)
  }

  /// The unread bytes of a socket that does not count its bytes may happen to be the same at each check.
  @Test func aSocketWithUnreadDataIsShutDownIfTheRunIsToStop() {
    let samples: [CInt: CallChecks.Sample] = [
      1: .init(read: nil, unread: 65_536), 2: .init(read: nil, unread: 0), 3: .init(read: 5, unread: 0),
    ]
    var checks = CallChecks(samples, limits)
    for _ in 1..<limits.rest {
      checks.add(samples, nothing, mustStop: true)
      #expect(checks.stuck.isEmpty)
    }
    checks.add(samples, nothing, mustStop: true)
    #expect(checks.stuck == [1] && checks.hang == nil)
  }

  @Test func aCallThatDoesNothingHangsOnlyIfTheRunIsToStop() {
    let samples: [CInt: CallChecks.Sample] = [1: .init(read: 5, unread: 0)]
    var checks = CallChecks(samples, limits)
    for _ in 1...100 { checks.add(samples, nothing, mustStop: false) }
    for _ in 1..<limits.idle { checks.add(samples, nothing, mustStop: true) }
    #expect(checks.hang == nil)
    checks.add(samples, nothing, mustStop: true)
    #expect(checks.hang == .idle)
  }

  @Test func aCallThatReadsOrCallsBackHangsAfterALongerTime() {
    var checks = CallChecks([1: .init(read: 0, unread: 0)], limits)
    for second in 1..<limits.stopped {
      checks.add(
        [1: .init(read: Int64(second), unread: 0)], .init(hasCalledBack: second % 3 == 0, passed: 1),
        mustStop: true)
      #expect(checks.hang == nil)
    }
    checks.add([1: .init(read: 0, unread: 0)], .init(hasCalledBack: true, passed: 1), mustStop: true)
    #expect(checks.hang == .busy)
  }
}
