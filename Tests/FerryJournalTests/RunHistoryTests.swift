import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct RunHistoryTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func open() throws -> RunHistory {
    try RunHistory.open(in: state.directory, writtenBy: "0.0-test", at: .start)
  }

  @Test func aRoundIsContinuedUntilItIsClosed() throws {
    let history = try open()
    #expect(try history.latestRound(manifest: "m") == nil)
    let first = try history.openRound(manifest: "m", at: .start)
    #expect(first == RoundRow(manifest: "m", number: 1, openedAt: .start))
    #expect(try history.openRound(manifest: "m", at: .start(plus: 1)) == first)
    #expect(try history.openRound(manifest: "n", at: .start).number == 1)
    try history.closeRound(manifest: "m", number: 1, at: .start(plus: 2))
    #expect(try history.latestRound(manifest: "m")?.closedAt == .start(plus: 2))
    #expect(try history.openRound(manifest: "m", at: .start(plus: 3)).number == 2)
  }

  @Test func aRoundHasTheRunThatClosedIt() throws {
    let history = try open()
    for run in ["r1", nil] {
      let round = try history.openRound(manifest: "m", at: .start)
      #expect(round.closedBy == nil)
      try history.closeRound(manifest: "m", number: round.number, by: run, at: .start)
      #expect(try history.latestRound(manifest: "m")?.closedBy == run)
      // The round is closed already.
      try history.closeRound(manifest: "m", number: round.number, by: "r2", at: .start)
      #expect(try history.latestRound(manifest: "m")?.closedBy == run)
    }
  }

  @Test func onlyTheRefreshTokensThatWereIssuedLastAreKept() throws {
    let history = try open()
    #expect(try history.refreshToken(chain: "c0") == nil)
    for number in 0...RunHistory.mostRefreshTokens {
      try history.keep(
        refreshToken: "r\(number)", chain: "c\(number)", manifest: "m", token: "t",
        at: .start(plus: Int64(number)))
    }
    try history.keep(refreshToken: "new", chain: "c1", manifest: "m", token: "t", at: .start(plus: 5_000))
    #expect(try history.refreshToken(chain: "c0") == nil)
    #expect(try history.refreshToken(chain: "c1") == "new")
    #expect(try history.refreshToken(chain: "c2") == "r2")
  }

  @Test func aNewHistoryStartsAfterTheRoundsThatTheJournalsName() throws {
    let state = try TemporaryState()
    let journal = try state.open()
    #expect(try journal.lastRound(of: "m") == 0)
    try journal.write([
      .insert(
        node: try journal.photos().id, round: 7, handedOver: .start, firstRow: 1, files: FileColumns(count: 2)
      ),
      .nodeIntent(
        node: try journal.node(manifest: "m", name: "n", kind: .request, origin: "http://x").id, round: 4),
      .nodeIntent(
        node: try journal.node(manifest: "other", name: "n", kind: .request, origin: "http://x").id, round: 9),
    ])
    let used = try journal.lastRound(of: "m")
    #expect(used == 7)
    try journal.close()
    let history = try RunHistory.open(in: state.directory, writtenBy: "0", at: .start)
    #expect(try history.openRound(manifest: "m", used: used, at: .start).number == 8)
    #expect(try history.openRound(manifest: "m", used: 8, at: .start).number == 8)
    // The history is like an older copy of the file, in which another round was open.
    #expect(try history.openRound(manifest: "m", used: 12, at: .start(plus: 1)).number == 13)
    #expect(try history.latestRound(manifest: "m")?.closedAt == nil)
    try history.close()
  }

  @Test func theNextRoundIsTheOpenOneOrFollowsAllKnownRounds() {
    let open = RoundRow(manifest: "m", number: 3, openedAt: .start)
    let closed = RoundRow(manifest: "m", number: 3, openedAt: .start, closedAt: .start)
    #expect(NextRound(latest: nil, used: 0).number == 1)
    #expect(NextRound(latest: nil, used: 5).number == 6)
    #expect(NextRound(latest: open, used: 3) == NextRound(latest: open, used: 0))
    #expect(NextRound(latest: open, used: 3).continues && NextRound(latest: open, used: 3).number == 3)
    #expect(!NextRound(latest: open, used: 4).continues && NextRound(latest: open, used: 4).number == 5)
    #expect(NextRound(latest: closed, used: 2).number == 4)
    #expect(NextRound(latest: nil, used: .max).number == .max)
  }

  @Test func aShardContinuesOnlyARoundOfTheSamePass() {
    func round(_ number: Int64, _ pass: String?, closedAt: Instant? = .start) -> RoundRow {
      RoundRow(manifest: "m", number: number, openedAt: .start, closedAt: closedAt, pass: pass)
    }
    let shared = round(3, "p", closedAt: nil)
    #expect(
      NextRound(latest: nil, used: 0, shared: shared)
        == NextRound(latest: round(2, "o"), used: 2, shared: shared))
    #expect(NextRound(latest: nil, used: 0, shared: shared).number == 3)
    // Its round of the pass is continued even if it is closed.
    let continued = NextRound(latest: round(3, "p"), used: 3, shared: shared)
    #expect(continued.continues && continued.number == 3 && continued.pass == "p")
    // Another round may have the same number, and may be open.
    for latest in [round(3, nil), round(3, nil, closedAt: nil), round(3, "o")] {
      let next = NextRound(latest: latest, used: 3, shared: shared)
      #expect(!next.continues && next.number == 4 && next.pass == "p")
    }
    #expect(NextRound(latest: round(1, "p"), used: 1, others: 5).number == 6)
  }

  private func run(
    _ id: String, of manifest: String = "m", _ process: ProcessIdentity, at start: Instant = .start
  )
    -> RunRow
  {
    RunRow(
      id: id, launch: .background, rounds: [.init(manifest: manifest, number: 1)], process: process,
      startedAt: start)
  }

  /// No process has this number: it exceeds PID_MAX_LIMIT (proc(5)).
  private static let dead = ProcessIdentity(pid: 5_000_000, started: 1, boot: "another")

  @Test func aKilledRunIsInterruptedUntilAnotherRunOfItsManifestOrTheEndOfItsRound() throws {
    let history = try open()
    _ = try history.openRound(manifest: "m", at: .start)
    #expect(try history.interruptedRun(of: "m", in: state.directory) == nil)
    let killed = run("1", Self.dead)
    try history.begin(killed)
    #expect(try history.interruptedRun(of: "m", in: state.directory) == killed)
    #expect(try history.interruptedRun(of: "n", in: state.directory) == nil)
    // A run of another manifest closes the dead run, but does not resume it.
    _ = try history.closeDeadRuns(at: .start(plus: 1))
    #expect(try history.interruptedRun(of: "m", in: state.directory)?.state == .interrupted)
    try history.closeRound(manifest: "m", number: 1, at: .start(plus: 2))
    #expect(try history.interruptedRun(of: "m", in: state.directory) == nil)
  }

  @Test func aRunThatIsInProgressOrHasEndedIsNotInterrupted() throws {
    let history = try open()
    _ = try history.openRound(manifest: "m", at: .start)
    try history.begin(run("1", Self.dead))
    try history.begin(run("2", .current))
    #expect(try history.interruptedRun(of: "m", in: state.directory) == nil)
    try history.end(run: "2", exitCode: 5, report: nil, at: .start)
    #expect(try history.interruptedRun(of: "m", in: state.directory) == nil)
  }

  /// The run may be in another container, where its process is not visible.
  @Test func aRunThatHoldsALockIsNotInterrupted() throws {
    let other = ProcessIdentity(pid: getpid(), started: 1, boot: "another")
    let lock = try SessionLock.try(session: "s", in: state.directory, at: .start(plus: 10))
    guard case .acquired(let held) = lock else {
      Issue.record("the lock is free")
      return
    }
    #expect(try !run("1", other, at: .start(plus: 20)).isInterrupted(in: state.directory))
    // The lock was taken after the run began, so another process with the same number holds the lock.
    #expect(try run("1", other, at: .start(plus: 5)).isInterrupted(in: state.directory))
    held.release()
    #expect(try run("1", other, at: .start(plus: 20)).isInterrupted(in: state.directory))
  }

  @Test func concurrentOpeningsOfARoundGetTheSameRound() throws {
    let state = state
    let found = Found()
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      do {
        let history = try RunHistory.open(in: state.directory, writtenBy: "0.0-test", at: .start)
        for _ in 0..<20 { found.insert(try history.openRound(manifest: "m", at: .start).number) }
        try history.close()
      } catch {
        found.record(error)
      }
    }
    #expect(found.numbers == [1] && found.errors.isEmpty)
  }

  @Test func jobsWithAnOpenRoundAreListedForResume() throws {
    let history = try open()
    let job = JobRow(
      manifest: "m", path: "/a/m.yaml", variables: ["api": "http://x/\"1\""], registeredAt: .start)
    try history.register(job)
    #expect(try history.jobsWithOpenRound.isEmpty)
    let round = try history.openRound(manifest: "m", at: .start)
    #expect(try history.jobsWithOpenRound == [job])
    var moved = job
    moved.path = "/b/m.yaml"
    try history.register(moved)
    #expect(try history.job(manifest: "m") == moved)
    try history.closeRound(manifest: "m", number: round.number, at: .start)
    #expect(try history.jobsWithOpenRound.isEmpty)
  }

  @Test func aRunIsWrittenFromItsBeginningToItsEnd() throws {
    let history = try open()
    let rounds = [RunRow.Round(manifest: "a", number: 1), .init(manifest: "b", number: 4)]
    var first = RunRow(id: "r1", launch: .background, rounds: rounds, startedAt: .start)
    let second = RunRow(id: "r2", launch: .foreground, rounds: [], startedAt: .start(plus: 1))
    try history.begin(first)
    try history.begin(second)
    #expect(try history.runs() == [second, first])
    #expect(try history.runs(limit: 1) == [second])
    try history.end(run: "r1", exitCode: 5, report: "/s/runs/r1/report.json", at: .start(plus: 2))
    first.state = .ended
    first.exitCode = 5
    first.endedAt = .start(plus: 2)
    first.report = "/s/runs/r1/report.json"
    #expect(try history.run(id: "r1") == first)
    #expect(throws: JournalError.self) { try history.begin(second) }
  }

  @Test func uploadRatesAreReturnedNewestFirst() throws {
    let history = try open()
    func end(_ run: String, _ rates: [RateRow]) throws {
      try history.begin(RunRow(id: run, launch: .background, rounds: [], startedAt: .start))
      try history.end(run: run, exitCode: 0, report: nil, rates: rates, at: .start)
    }
    func rate(_ upload: String, _ bytes: Int64, session: String = "s") -> RateRow {
      RateRow(
        manifest: "m", upload: upload, session: session,
        sample: TransferSample(bytes: bytes, duration: .milliseconds(bytes)))
    }
    try end("r1", [rate("a", 1), rate("b", 2)])
    try end("r2", [rate("a", 3), rate("c", 4, session: "t")])
    try end("r3", [])
    try end("r4", [rate("a", 5)])
    #expect(try history.samples(manifest: "m", upload: "a", limit: 2).map(\.bytes) == [5, 3])
    #expect(try history.samples(manifest: "m", upload: "a", limit: 9).map(\.bytes) == [5, 3, 1])
    #expect(try history.samples(manifest: "other", upload: "a", limit: 9).isEmpty)
    #expect(Set(try history.samples(session: "s", limit: 9).map(\.bytes)) == [5, 3, 1, 2])
    #expect(
      try history.samples(session: "t", limit: 9) == [
        TransferSample(bytes: 4, duration: .milliseconds(4))
      ])
  }

  @Test func aHistoryOfTheFirstSchemaIsMigrated() throws {
    try state.directory.create()
    let old = DatabaseSchema(
      applicationID: DatabaseSchema.history.applicationID,
      migrations: Array(DatabaseSchema.history.migrations.prefix(1)))
    let queue = try DatabaseFile(path: state.directory.history, schema: old)
      .openForWriting(durability: .everyCommit, writtenBy: "0.0-test", at: .start)
    try queue.write {
      try $0.execute(
        sql: """
          INSERT INTO run (id, launch, state, pid, process_started, boot, started_at)
          VALUES ('r1', 'background', 1, 1, 1, '', 0)
          """)
    }
    try queue.close()
    let snapshot = try RunHistory.openForReading(in: state.directory)
    #expect(try snapshot.samples(session: "s", limit: 9).isEmpty)
    try snapshot.close()
    let history = try open()
    let rate = RateRow(
      manifest: "m", upload: "a", session: "s", sample: TransferSample(bytes: 1, duration: .seconds(1)))
    try history.end(run: "r1", exitCode: 0, report: nil, rates: [rate], at: .start)
    #expect(try history.samples(session: "s", limit: 9) == [rate.sample])
  }

  @Test func aDeadProcesssRunIsClosedAsInterrupted() throws {
    let history = try open()
    let me = ProcessIdentity.current
    var ghosts = [me, me, me]
    ghosts[0].started += 1
    ghosts[1].boot = "another"
    ghosts[2].pid = .max
    for (index, process) in ([me] + ghosts).enumerated() {
      try history.begin(
        RunRow(id: "r\(index)", launch: .background, rounds: [], process: process, startedAt: .start))
    }
    let closed = try history.closeDeadRuns(at: .start(plus: 9))
    #expect(closed.map(\.id) == ["r1", "r2", "r3"])
    #expect(closed.allSatisfy { $0.state == .interrupted && $0.endedAt == .start(plus: 9) })
    #expect(try history.run(id: "r0")?.state == .running)
    #expect(try history.closeDeadRuns(at: .start(plus: 10)).isEmpty)
  }

  @Test func theHistoryIsForItsOwnerOnlyAndNoSessionsJournal() throws {
    let history = try open()
    #expect(state.mode(history.path) == 0o600)
    try history.close()
    try FileManager.default.copyItem(atPath: history.path, toPath: state.database())
    let error = try #require(throws: JournalError.self) { try state.open() }
    #expect(error.code == .foreign)
  }

  /// `@unchecked Sendable`: `lock` guards the state.
  private final class Found: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var numbers: Set<Int64> = []
    private(set) var errors: [any Error] = []

    func insert(_ number: Int64) { _ = lock.withLock { numbers.insert(number) } }
    func record(_ error: any Error) { lock.withLock { errors.append(error) } }
  }
}
