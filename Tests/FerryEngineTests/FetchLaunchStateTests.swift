import FerryJournal
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// A fetch's state at a launch, from the manifest's interval and a real journal.
struct FetchLaunchStateTests {
  private let folder: TestFolder
  private let journal: SessionJournal
  private let start = Instant(nanoseconds: 1_600_000_000_000_000_000)

  init() throws {
    folder = try TestFolder()
    journal = try .ephemeral(session: "s")
  }

  private func launchState(
    _ interval: String, path: String = "catalog", round: Int64 = 2, after seconds: Int
  ) throws -> LaunchState {
    let manifest = """
      version: 1
      name: m
      sessions: { s: {} }
      fetches:
        f:
          session: s
          interval: \(interval)
          save_to: f
          request: { url: "https://a.example/\(path)" }
      """
    let file = folder.path + "/m.yaml"
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: file))
    let reading = try Job.read(path: file, variables: [:], environment: [:])
    let job = try #require(reading.job, "\(reading.diagnostics)")
    return try LaunchState(
      job, journals: SessionJournals([journal]), round: round, selection: Selection([], in: job.plan),
      listers: [:],
      at: start.advanced(by: .seconds(seconds)))
  }

  /// Records how the fetch ended in round 1.
  private func ended(_ state: ItemState, interval: Duration?) throws {
    let row = try #require(try launchState("every_run", after: 0).rows[0])
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    let record = FetchRecord(etag: nil, lastModified: nil, fetchedAt: start, interval: interval)
    _ = try writer.append(
      [.nodeClosed(node: row.id, NodeClosing(round: 1, state: state, at: start, fetch: record))], to: 0)
    try writer.close()
  }

  /// The seconds after `start` at which the fetch is due; `nil` if it is due now.
  private func due(_ interval: String, path: String = "catalog", after seconds: Int) throws -> Double? {
    switch try launchState(interval, path: path, after: seconds).starts[0] {
    case .notDue(let until, nil): return start.duration(to: until).seconds
    case .open: return nil
    case let other:
      Issue.record("\(other)")
      return nil
    }
  }

  @Test func aFetchWaitsForTheIntervalInTheJournal() throws {
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 0) == nil)
    try ended(.done, interval: .seconds(40))
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 39) == 40)
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 40) == nil)
    #expect(try due("{ minimum: 60s, maximum: 80s }", after: 40) == 60)
    #expect(try due("{ minimum: 10s, maximum: 20s }", after: 19) == 20)
    #expect(try due("{ minimum: 10s, maximum: 20s }", after: 20) == nil)
    #expect(try due("{ minimum: 10s }", after: 9) == 10)
    #expect(try due("{ minimum: 10s }", after: 10) == nil)
    #expect(try due("every_run", after: 0) == nil)
    #expect(
      try launchState("every_run", after: 0).intervals == [NodeID(0): .seconds(40)],
      "what is kept is the journal's; the bounds are the scheduler's to apply")
    // Another URL names another document.
    #expect(try due("{ minimum: 10s, maximum: 80s }", path: "other", after: 1) == nil)
  }

  @Test func aFetchWithoutAnIntervalInTheJournalWaitsForItsMinimum() throws {
    try ended(.done, interval: nil)
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 9) == 10)
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 10) == nil)
    #expect(try launchState("{ minimum: 10s }", after: 0).intervals.isEmpty)
  }

  /// The minimum interval starts at the failure, whether or not the fetch ended in its round. `ferry cancel` does not
  /// change that.
  @Test func afterAFailureAFetchWaitsForItsMinimum() throws {
    try ended(.done, interval: .seconds(40))
    let row = try #require(try launchState("every_run", after: 0).rows[0])
    let failure = RecordedFailure(
      code: "http_status", status: 500, message: "the server responded with 500 to GET")
    func write(_ write: JournalWrite) throws {
      let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
      _ = try writer.append([write], to: 0)
      try writer.close()
    }
    func failed(round: Int64, after seconds: Int, _ interval: String = "{ minimum: 10s, maximum: 80s }")
      throws -> (
        due: Double, failure: FailedFetch
      )?
    {
      switch try launchState(interval, round: round, after: seconds).starts[0] {
      case .notDue(let until, let failed?): return (start.duration(to: until).seconds, failed)
      default: return nil
      }
    }
    try write(.fetchFailed(node: row.id, round: 2, failure: failure, at: start.advanced(by: .seconds(41))))
    let open = try #require(try failed(round: 2, after: 50))
    #expect(open.due == 51 && open.failure.isOpen && open.failure.failure == failure)
    #expect(try failed(round: 2, after: 51) == nil)
    #expect(try failed(round: 2, after: 50, "every_run") == nil)

    let at = start.advanced(by: .seconds(60))
    try write(.nodeClosed(node: row.id, NodeClosing(round: 2, state: .failed, at: at, failure: failure)))
    let closed = try #require(try failed(round: 3, after: 69))
    #expect(closed.due == 70 && !closed.failure.isOpen && closed.failure.failure == failure)
    #expect(closed.failure.reason.message == "the last attempt failed: the server responded with 500 to GET")
    guard case .closed(.failed, failure) = try launchState("{ minimum: 10s }", after: 61).starts[0] else {
      Issue.record("it has ended in this round")
      return
    }

    let later = start.advanced(by: .seconds(65))
    try write(
      .nodeClosed(node: row.id, NodeClosing(round: 3, state: .cancelled, at: later, failure: .cancelled)))
    let cancelled = try #require(try failed(round: 4, after: 69))
    #expect(cancelled.due == 70 && cancelled.failure.reason.message == "the last attempt failed")
    try ended(.done, interval: .seconds(40))
    #expect(try due("{ minimum: 10s, maximum: 80s }", after: 39) == 40)
  }

  @Test func aResetMakesAFailedFetchDue() throws {
    try ended(.done, interval: nil)
    let row = try #require(try launchState("every_run", after: 0).rows[0])
    let writer = JournalWriter(journals: [journal], threads: try .init()) { _ in }
    _ = try writer.append(
      [.fetchFailed(node: row.id, round: 2, failure: .init(code: "connect", message: "refused"), at: start)],
      to: 0)
    try writer.close()
    #expect(try launchState("{ minimum: 10s }", after: 1).rows[0]?.failedAt == start)
    _ = try journal.reset(at: start)
    #expect(try launchState("{ minimum: 10s }", after: 1).rows[0]?.failedAt == nil)
  }

  @Test func aDisabledFetchIsNeitherDueNorWaiting() throws {
    for _ in 0..<2 {
      guard case .switchedOff = try launchState("never", after: 1_000_000).starts[0] else {
        Issue.record("it is asked for")
        return
      }
      try ended(.done, interval: .seconds(40))
    }
    // The result that the fetch had in this round before it was disabled is kept.
    guard case .closed(.succeeded, _) = try launchState("never", round: 1, after: 1).starts[0] else {
      Issue.record("its end is forgotten")
      return
    }
  }
}
