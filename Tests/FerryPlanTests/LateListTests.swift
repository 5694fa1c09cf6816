import FerryManifest
import FerryPlan
import Testing

/// A list of files that is read when its upload opens.
@Suite struct `The list of an upload that needs a fetch` {
  private let upload = NodeID(1)

  private func scheduler(failingSince: Instant? = nil) throws -> Scheduler {
    let plan = try Plan(
      yaml: Yaml.head + """
        fetches:
          wanted: { session: s, request: { url: "http://h/wanted" }, save_to: wanted.txt }
        uploads:
          up:
            session: s
            needs: [wanted]
            files: { root: ., list: wanted.txt }
            transfer: { request: { url: "http://h/${file.path}" } }
        """)
    return Scheduler(
      plan: plan, starts: [.open, .upload(ItemTable(), .init())],
      failingSince: failingSince.map { [upload: $0] } ?? [:], listsLater: [upload],
      options: LaunchOptions(seed: 1))
  }

  private func lists(_ actions: [Action]) -> [NodeID] {
    actions.compactMap { if case .list(let node) = $0 { node } else { nil } }
  }

  private func hasEnd(_ actions: [Action]) -> Bool {
    actions.contains { if case .end = $0 { true } else { false } }
  }

  private func attempts(_ actions: [Action]) -> [Attempt] {
    actions.compactMap { if case .start(let attempt) = $0 { attempt } else { nil } }
  }

  /// Runs the fetch, and returns the actions that follow when its end is recorded.
  private func fetch(_ scheduler: inout Scheduler, at now: Instant) throws -> [Action] {
    let launched = scheduler.handle(.launched, at: now)
    #expect(lists(launched).isEmpty)
    let fetch = try #require(attempts(launched).first)
    let ended = scheduler.handle(
      .finished([AttemptResult(id: fetch.id, answer: .response(.init(status: 200)))]), at: now)
    #expect(lists(ended).isEmpty)
    return scheduler.handle(.synced(through: 1), at: now)
  }

  @Test func `is requested once the nodes that the upload needs have ended`() throws {
    var scheduler = try scheduler()
    let now = Instant(nanoseconds: 1_000_000_000)
    #expect(lists(try fetch(&scheduler, at: now)) == [upload])
    // The launch waits for the list, but does not request it again.
    let waiting = scheduler.handle(.timer, at: now)
    #expect(lists(waiting).isEmpty && !hasEnd(waiting))
    let listed = scheduler.handle(.listed(upload, .items(ItemTable(), settled: .init())), at: now)
    #expect(!lists(listed).contains(upload))
    #expect(scheduler.isRoundThrough || !hasEnd(listed))
    _ = scheduler.handle(.synced(through: .max), at: now)
    #expect(scheduler.isRoundThrough)
    #expect(scheduler.exitCode == .success)
  }

  @Test func `that cannot be read leaves the upload to a later launch`() throws {
    var scheduler = try scheduler()
    let now = Instant(nanoseconds: 1_000_000_000)
    _ = try fetch(&scheduler, at: now)
    let failure = RecordedFailure(code: .init(.sourceMissing), message: "no list")
    let actions = scheduler.handle(.listed(upload, .unreadable(failure)), at: now)
    #expect(hasEnd(actions + scheduler.handle(.synced(through: .max), at: now)))
    #expect(scheduler.nodeRecords.last?.reason == failure)
    #expect(!scheduler.isRoundThrough)
    #expect(scheduler.exitCode == .usage)
  }

  @Test func `that could not be read since a time longer ago than the timeout fails the upload`() throws {
    let now = Instant(nanoseconds: 1_000_000_000)
    var scheduler = try scheduler(failingSince: now.advanced(by: .seconds(-7 * 86_400)))
    _ = try fetch(&scheduler, at: now)
    let failure = RecordedFailure(code: .init(.sourceMissing), message: "no list")
    _ = scheduler.handle(.listed(upload, .unreadable(failure)), at: now)
    _ = scheduler.handle(.synced(through: .max), at: now)
    #expect(scheduler.nodeRecords.last?.reason == failure)
    #expect(scheduler.isRoundThrough)
  }

  @Test func `that arrives after a stop is not taken`() throws {
    var scheduler = try scheduler()
    let now = Instant(nanoseconds: 1_000_000_000)
    _ = try fetch(&scheduler, at: now)
    #expect(hasEnd(scheduler.handle(.stop(.terminate), at: now)))
    let actions = scheduler.handle(.listed(upload, .items(ItemTable(), settled: .init())), at: now)
    #expect(attempts(actions).isEmpty)
    #expect(scheduler.nodeRecords.last?.state == .waiting)
    #expect(!scheduler.isRoundThrough)
  }
}
