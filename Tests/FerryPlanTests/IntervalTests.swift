import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// When a fetch is due, and how its results change its interval.
struct IntervalTests {
  private let adaptive = Fetch.Interval.adaptive(minimum: .seconds(900), maximum: .seconds(21_600))
  private let start = Instant(nanoseconds: 1_600_000_000_000_000_000)

  /// The rows of the table in the documentation of `next`, in minutes.
  @Test func anIntervalDoublesToItsMaximumAndFallsBackToItsMinimum() {
    let rows: [(result: FetchResult, present: Int, next: Int)] = [
      (.newData, 15, 15), (.noData, 15, 30), (.noData, 30, 60), (.failed, 60, 60), (.noData, 60, 120),
      (.noData, 120, 240), (.noData, 240, 360), (.noData, 360, 360), (.newData, 360, 15),
    ]
    var kept: Duration?
    for row in rows {
      #expect(adaptive.present(kept: kept) == .seconds(60 * row.present))
      kept = adaptive.next(after: row.result, kept: kept)
      #expect(kept == .seconds(60 * row.next))
    }
  }

  @Test func anIntervalGrowsFromZeroAndStopsAtAnyMaximum() {
    let zero = Fetch.Interval.adaptive(minimum: .zero, maximum: .seconds(3))
    #expect(zero.next(after: .noData, kept: nil) == .seconds(1))
    #expect(zero.next(after: .noData, kept: .seconds(1)) == .seconds(2))
    #expect(zero.next(after: .noData, kept: .seconds(2)) == .seconds(3))
    let short = Fetch.Interval.adaptive(minimum: .zero, maximum: .milliseconds(10))
    #expect(short.next(after: .noData, kept: nil) == .milliseconds(10))
    #expect(Fetch.Interval.adaptive(minimum: .zero, maximum: .zero).next(after: .noData, kept: nil) == .zero)
    let most = Duration.seconds(Int64.max)
    let long = Fetch.Interval.adaptive(minimum: most - .seconds(1), maximum: most)
    #expect(long.next(after: .noData, kept: nil) == most)
  }

  @Test(arguments: [(nil, 900), (60, 900), (-1, 900), (3600, 3600), (90_000, 21_600)])
  func aStoredIntervalIsClampedToTheCurrentBounds(kept: Int?, present: Int) {
    #expect(adaptive.present(kept: kept.map { .seconds($0) }) == .seconds(present))
    #expect(adaptive.next(after: .failed, kept: kept.map { .seconds($0) }) == .seconds(present))
  }

  @Test(arguments: [FetchResult.newData, .noData, .failed])
  func onlyAnIntervalWithTwoBoundsChanges(result: FetchResult) {
    let kept = Duration.seconds(3600)
    #expect(Fetch.Interval.minimum(.seconds(60)).next(after: result, kept: kept) == .seconds(60))
    #expect(Fetch.Interval.everyRun.next(after: result, kept: kept) == nil)
    #expect(Fetch.Interval.never.next(after: result, kept: kept) == nil)
  }

  @Test func aFetchIsDueWhenItsCurrentIntervalHasPassed() {
    let due = start.advanced(by: .seconds(3600))
    let kept = Duration.seconds(3600)
    func until(_ now: Instant, _ interval: Fetch.Interval, last: Instant?) -> Instant? {
      guard case .notDue(let until, nil) = interval.start(last: last, kept: kept, at: now) else { return nil }
      return until
    }
    let before = due.advanced(by: .nanoseconds(-1))
    #expect(until(start, adaptive, last: start) == due)
    #expect(until(before, adaptive, last: start) == due)
    #expect(until(due, adaptive, last: start) == nil)
    #expect(until(before, adaptive, last: nil) == nil)
    #expect(until(before, .everyRun, last: start) == nil)
    // The stored interval is ignored if the manifest has only one bound.
    #expect(until(before, .minimum(.seconds(60)), last: start) == nil)
    // The stored time is ignored if the clock has been set back since then.
    #expect(until(start.advanced(by: .seconds(-1)), adaptive, last: start) == nil)
  }

  @Test(arguments: [nil, Instant(nanoseconds: 0), Instant(nanoseconds: .max)])
  func aDisabledFetchIsNeverDue(last: Instant?) {
    for now in [Instant(nanoseconds: .min), start, .distantFuture] {
      guard case .switchedOff = Fetch.Interval.never.start(last: last, kept: nil, at: now) else {
        Issue.record("it is asked for at \(now)")
        continue
      }
    }
  }

  private func yaml(_ interval: String) -> String {
    Yaml.head + """
      fetches:
        f:
          session: s
          interval: \(interval)
          save_to: f
          request: { url: "http://host/f" }
      requests:
        r: { session: s, needs: [f], when: always, request: { url: "http://host/r" } }

      """
  }

  @Test func fetchesBecomeLessFrequentWhileNothingIsNew() throws {
    var asked: [Int] = []
    var lengths: [Double?] = []
    var world = try World(yaml("{ minimum: 1h, maximum: 6h }")) { _ in .status(200) }
    // Cron starts a run every half hour. After 21 hours, there is new data again.
    for run in 0..<60 {
      let status = run == 0 || run == 43 ? 200 : 304
      world.serve = { $0.node == "f" ? .status(status) : .status(200) }
      world.now = start.advanced(by: .seconds(1800 * run))
      world.round = Int64(run + 1)
      world.run()
      #expect(world.scheduler.isRoundThrough)
      if world.starts.contains(where: { $0.attempt.step == .fetch }) {
        asked.append(run)
        lengths.append(world.scheduler.nodeRecords[0].intervalSeconds.map { $0 / 3600 })
      }
    }
    // Because a response takes some time, a run at the exact end of an interval is too early.
    #expect(asked == [0, 3, 8, 17, 30, 43, 46, 51])
    #expect(lengths == [1, 2, 4, 6, 6, 1, 2, 4])
  }

  @Test func aFailedFetchDoesNotChangeTheInterval() throws {
    var world = try World(yaml("{ minimum: 1h, maximum: 6h }")) {
      .status($0.node == "f" ? 403 : 200)
    }
    world.journal.fetches[0] = .init(at: start.advanced(by: .seconds(-7200)), interval: .seconds(7200))
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == .failed)
    #expect(world.scheduler.nodeRecords[0].intervalSeconds == 7200)
    #expect(world.journal.fetches[0]?.at == start.advanced(by: .seconds(-7200)))
    // After a failure, the fetch is due when its minimum has passed, although the interval is longer.
    world.round = 2
    world.now = world.now.advanced(by: .seconds(3600))
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == .newData)
    #expect(world.scheduler.nodeRecords[0].intervalSeconds == 3600)
    // The fetch of the following round waits, and records the reason.
    world.round = 3
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.scheduler.nodeRecords[0].notBefore != nil)
    #expect(world.scheduler.nodeRecords[0].intervalSeconds == 3600)
  }

  private static func failing(_ call: Call) -> Reply { .status(call.node == "f" ? 403 : 200) }

  /// A permanent failure ends the fetch in its round. In the next rounds, it sends no request and counts as failed.
  @Test func afterAFailureAFetchCountsAsFailedUntilItsMinimumHasPassed() throws {
    let text = yaml("{ minimum: 1h }").replacing("when: always", with: "when: succeeded")
    var world = try World(text, serve: Self.failing)
    var asked: [Int] = []
    for run in 0..<9 {
      world.now = start.advanced(by: .seconds(900 * run))
      world.round = Int64(run + 1)
      if run == 5 { world.serve = { _ in .status(200) } }
      world.run()
      #expect(world.scheduler.isRoundThrough)
      let (fetch, request) = (world.scheduler.nodeRecords[0], world.scheduler.nodeRecords[1])
      // Because the response takes some time, the run at the exact end of the minimum is too early.
      let hasFailed = run < 5
      #expect(world.scheduler.exitCode == (hasFailed ? .itemsFailed : .success))
      #expect(
        fetch.state == (hasFailed ? .failed : .succeeded)
          && request.state == (hasFailed ? .skipped : .succeeded))
      if world.starts.contains(where: { $0.attempt.step == .fetch }) {
        asked.append(run)
        #expect(fetch.notBefore == nil)
      } else if hasFailed {
        #expect(fetch.notBefore == start.advanced(by: .seconds(3600) + .milliseconds(10)).rfc3339)
        #expect(fetch.result == nil && fetch.reason?.code == "http_status" && fetch.reason?.status == 403)
        #expect(fetch.reason?.message == "the last attempt failed: the server responded with 403 to GET")
      }
    }
    #expect(asked == [0, 5])
  }

  /// After a temporary failure, the fetch and its round remain open, but the fetch sends no request.
  @Test func afterATemporaryFailureAFetchStaysOpenUntilItsMinimumHasPassed() throws {
    let text = yaml("{ minimum: 1h, maximum: 6h }").replacing(
      "save_to", with: "retry: { limit: 1 }\n    save_to")
    var world = try World(text) { .status($0.node == "f" ? 500 : 200) }
    world.run()
    #expect(world.starts.count == 2 && world.scheduler.exitCode == .temporary)
    let failedAt = try #require(world.journal.failedFetches[0]?.at)
    world.now = failedAt.advanced(by: .seconds(3599))
    world.run()
    #expect(world.starts.isEmpty && !world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .temporary)
    let records = world.scheduler.nodeRecords
    #expect(records[0].state == .waiting)
    #expect(records[0].notBefore == failedAt.advanced(by: .seconds(3600)).rfc3339)
    #expect(records[0].reason?.message == "the last attempt failed: the server responded with 500 to GET")
    // The node that needs the fetch waits, although its `when` accepts a failure.
    #expect(records[1].state == .waiting && records[1].reason?.code == "needs")
    world.now = failedAt.advanced(by: .seconds(3600))
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.fetch, .request] && world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .success)
  }

  /// Only attempts that reach the fetch's own server count. Attempts at fetching its token do not.
  @Test func aFetchThatWasNotSentIsDueImmediately() throws {
    let head = Yaml.head + Yaml.token
    let text = yaml("{ minimum: 1h }").replacing(Yaml.head, with: head)
      .replacing("    save_to", with: "    token: login\n    save_to")
    var world = try World(text) { .status($0.step == .token ? 500 : 200) }
    world.run()
    #expect(world.scheduler.exitCode == .temporary && world.journal.failedFetches.isEmpty)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.starts.contains { $0.attempt.step == .fetch })
  }

  /// The rule that the referee reports as violated if a fetch begins in this state 10 s after it failed.
  private func violation(_ begin: NodeStart, isOpen: Bool, when: String = "succeeded") throws -> Violation
    .Rule?
  {
    let text = yaml("{ minimum: 1h }").replacing("when: always", with: "when: \(when)")
    var machine = VirtualMachine(try Plan(yaml: text), at: start) { _ in .status(200) }
    machine.keepsTrace = true
    machine.journal.failedFetches[0] = FailedFetch(
      at: start.advanced(by: .seconds(-10)), failure: nil, isOpen: isOpen)
    machine.startOverrides["f"] = begin
    var referee = Referee(machine.plan)
    referee.willLaunch(machine)
    machine.launch()
    referee.see(machine, [])
    while referee.violation == nil, machine.step() { referee.see(machine, []) }
    return referee.violation?.rule
  }

  @Test func theRefereeFindsAFailedFetchThatIsSentTooEarlyOrCountsAsSucceeded() throws {
    #expect(try violation(.open, isOpen: true) == .interval)
    #expect(try violation(.closed(.succeeded), isOpen: false) == .needs)
    #expect(try violation(.closed(.failed), isOpen: true, when: "always") == .needs)
    #expect(try violation(.closed(.failed), isOpen: false, when: "always") == nil)
    let due = start.advanced(by: .seconds(3590))
    #expect(
      try violation(
        .notDue(until: due, after: FailedFetch(at: start, failure: nil, isOpen: true)), isOpen: true)
        == nil)
  }

  @Test(arguments: ["every_run", "{ minimum: 0s }"])
  func aFetchWithoutAMinimumIsRetriedInTheNextRun(interval: String) throws {
    var world = try World(yaml(interval)) { .status($0.node == "f" ? 403 : 200) }
    for round in 1...3 {
      world.round = Int64(round)
      world.run()
      #expect(world.starts.contains { $0.attempt.step == .fetch })
    }
  }

  @Test func aDisabledFetchIsNotSentAndCountsAsSucceeded() throws {
    let text = yaml("never").replacing("when: always", with: "when: succeeded")
    var world = try World(text) { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    let record = world.scheduler.nodeRecords[0]
    #expect(record.state == .succeeded)
    #expect(record.reason?.code == "never")
    #expect(record.notBefore == nil && record.intervalSeconds == nil && record.result == nil)
    #expect(world.scheduler.exitCode == .success)
    #expect(world.scheduler.isRoundThrough)
  }
}
