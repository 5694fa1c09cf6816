import FerryManifest
import FerryPlan
import Testing

/// The resume delay: in the background, completions are handled together, and the work that follows from them waits.
@Suite("The resume delay")
struct DelayTests {
  /// Five files, for each of which the server responds after 10 s.
  private func world(
    _ policy: String, batch: String = "", launch: LaunchKind = .background,
    patience: Duration = .seconds(86_400), ids: Bool = false, kind: String = "background"
  ) throws -> World {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: \(kind), max_connections_per_host: 9 } }
      resume_delay: { policy: \(policy), initial: 60s, factor: 2, max: 6h }

      """
    let yaml = ids ? Yaml.ids(batch, head: head) : Yaml.put(batch, head: head)
    var world = try World(yaml, files: Yaml.files(5)) { call in
      .status(200, after: call.step == .transfer ? .seconds(10) : .milliseconds(1))
    }
    world.options.launch = launch
    world.options.patience = patience
    return world
  }

  private func transfers(_ world: World) -> [Double] {
    world.starts.filter { $0.attempt.step == .transfer }
      .map { (world.start.duration(to: $0.at).seconds * 10).rounded() / 10 }
  }

  @Test func `before_start delays new work of a resume by the doubled period`() throws {
    var world = try world("before_start", batch: "    batch: { max_items: 1 }\n")
    world.run()
    // Each transfer takes 10 s. The delays are 60 s, 120 s, 240 s and 480 s.
    #expect(transfers(world) == [0, 70, 200, 450, 940])
    #expect(world.scheduler.totals.resumes == 5)
    #expect(world.scheduler.totals.items.done == 5)
  }

  @Test func `a launch that leaves a batch for the delay is deferred`() throws {
    var world = try world("after_completion", batch: "    batch: { max_items: 2 }\n", patience: .zero)
    world.run()
    // The first batch completes without a delay, and the second one during the first delay.
    #expect(transfers(world) == [0, 0, 10, 10])
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .deferred)
    let reason = try #require(world.scheduler.nodeRecords[0].reason)
    #expect(reason.code == .delay)
    let until = try #require(reason.until)
    #expect(world.start.duration(to: until).seconds.rounded() == 70)
  }

  @Test func `the next launch does not start the next batch before the delay ends`() throws {
    var world = try world("after_completion", batch: "    batch: { max_items: 2 }\n", patience: .zero)
    world.run()
    world.run()
    #expect(world.starts.isEmpty && world.scheduler.exitCode == .deferred)
    world.now = world.start.advanced(by: .seconds(71))
    world.run()
    #expect(transfers(world) == [71] && world.scheduler.isRoundThrough)
  }

  @Test func `a resume under a clock that ran ahead delays for one period`() throws {
    var world = try world("before_start", patience: .zero)
    let ahead = ResumeState(period: .seconds(60), resumedAt: world.start.advanced(by: .seconds(300_000_000)))
    world.machine.journal.delays = [SessionID(0): ahead]
    world.run()
    #expect(world.starts.isEmpty && world.scheduler.exitCode == .deferred)
    #expect(world.machine.journal.delays[SessionID(0)]?.endsAt == world.start.advanced(by: .seconds(60)))
    world.now = world.start.advanced(by: .seconds(61))
    world.run()
    #expect(transfers(world) == [61, 61, 61, 61, 61])
  }

  @Test func `work that ferry cancel lets finish does not wait for its batch`() throws {
    var world = try world("after_completion", patience: .zero, ids: true)
    world.machine.schedule(.cancel(SessionID(0), finishing: true), at: world.start.advanced(by: .seconds(5)))
    world.run()
    #expect(world.scheduler.totals.items.done == 5 && world.scheduler.exitCode == .success)
  }

  @Test func `before_start starts files that are queued together at the same time`() throws {
    var world = try world("before_start")
    world.run()
    #expect(transfers(world) == [0, 0, 0, 0, 0])
    #expect(world.scheduler.totals.resumes == 1)
  }

  @Test func `after_completion handles completed files only after the period`() throws {
    var world = try world("after_completion", batch: "    batch: { max_items: 1 }\n")
    world.run()
    // The first completion is handled after 10 s, the next ones after 70 s, 190 s and 430 s. The next file then starts
    // at once.
    #expect(transfers(world) == [0, 10, 70, 190, 430])
    #expect(world.scheduler.totals.resumes == 5)
  }

  @Test(arguments: ["none"])
  func `none delays nothing`(_ policy: String) throws {
    var world = try world(policy, batch: "    batch: { max_items: 1 }\n")
    world.run()
    #expect(transfers(world) == [0, 10, 20, 30, 40])
    #expect(world.scheduler.totals.resumes == 0)
  }

  @Test func `applies neither to a default session nor to a foreground launch`() throws {
    for (launch, kind) in [(LaunchKind.foreground, "background"), (.background, "default")] {
      var world = try world(
        "before_start", batch: "    batch: { max_items: 1 }\n", launch: launch, kind: kind)
      world.run()
      #expect(transfers(world) == [0, 10, 20, 30, 40])
      #expect(world.scheduler.totals.resumes == 0)
    }
  }

  @Test func `holds commits until the whole batch has been sent`() throws {
    var world = try world("before_start", ids: true)
    world.serve = { call in
      .status(200, after: call.step == .transfer ? .seconds(call.path == "f03" ? 50 : 10) : .milliseconds(1))
    }
    world.run()
    let commits = world.starts.filter { $0.attempt.step == .commit }
    #expect(commits.count == 5)
    #expect(commits.allSatisfy { world.start.duration(to: $0.at) >= .seconds(50) })
    #expect(world.scheduler.totals.resumes == 1)
  }

  @Test func `ends a launch that does not wait, and reports when it continues`() throws {
    var world = try world("before_start", batch: "    batch: { max_items: 1 }\n", patience: .zero)
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.exitCode == .deferred)
    let reason = try #require(world.scheduler.nodeRecords[0].reason)
    #expect(reason.code == "delay")
    #expect(reason.until == world.start.advanced(by: .seconds(70) + .milliseconds(1)))
  }

  @Test func `is kept from launch to launch`() throws {
    var world = try world("before_start", batch: "    batch: { max_items: 1 }\n", patience: .zero)
    world.run()
    world.now = world.start.advanced(by: .seconds(30))
    world.run()
    #expect(world.starts.isEmpty)
    world.now = world.start.advanced(by: .seconds(75))
    world.run()
    #expect(transfers(world) == [75])
    #expect(world.machine.journal.delays[SessionID(0)]?.period == .seconds(120))
  }

  @Test func `is reset by a foreground launch`() throws {
    var world = try world("before_start", batch: "    batch: { max_items: 1 }\n", patience: .zero)
    world.run()
    world.options.launch = .foreground
    world.run()
    #expect(world.scheduler.totals.items.done == 5)
    #expect(world.machine.journal.delays[SessionID(0)] == ResumeState())
  }

  @Test func `grows as its table says, and a period that passed without a resume resets it`() {
    let policy = ResumeDelay(policy: .beforeStart)
    var state = ResumeState()
    var periods: [Int64] = []
    for second in [10, 80, 210, 460, 950, 5000] {
      state = state.resumed(at: Instant(nanoseconds: Int64(second) * 1_000_000_000), policy)
      periods.append(state.period.components.seconds)
    }
    #expect(periods == [60, 120, 240, 480, 960, 60])
  }

  @Test func `with reset foreground, keeps its period however long no resume occurs`() {
    let policy = ResumeDelay(policy: .beforeStart, reset: .foreground)
    var state = ResumeState()
    var periods: [Int64] = []
    for second in [10, 80, 210, 460, 950, 5000, 500_000] {
      state = state.resumed(at: Instant(nanoseconds: Int64(second) * 1_000_000_000), policy)
      periods.append(state.period.components.seconds)
    }
    #expect(periods == [60, 120, 240, 480, 960, 1920, 3840])
  }

  @Test(arguments: [(Profile.server, ResumeDelay.Reset.idle), (.ios, .foreground), (.ios7, .foreground)])
  func `is reset as its profile says`(_ profile: Profile, _ reset: ResumeDelay.Reset) {
    #expect(ResumeDelay(profile).reset == reset)
  }

  @Test func `under after_completion, handles the rejection of a token no sooner than the delay ends`() throws
  {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 1 }, quick: {} }
      resume_delay: { policy: after_completion, initial: 60s, factor: 2, max: 6h }

      """
    let token = Yaml.token.replacing("session: s", with: "session: quick")
    let upload = Yaml.put("    token: login\n    batch: { max_items: 1 }\n", head: head + token)
    var world = try World(upload, files: Yaml.files(2)) { call in
      if call.path == "f01", call.attempt.tokenGeneration == 1 { return .status(401) }
      return .status(200)
    }
    world.options.patience = .seconds(3600)
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    // There is a resume when the first batch completes, when the token is rejected, and when the second batch
    // completes.
    #expect(world.scheduler.totals.resumes == 3)
    let again = world.starts.filter { $0.attempt.step == .transfer && $0.attempt.tokenGeneration == 2 }
    #expect(again.map { world.start.duration(to: $0.at).components.seconds } == [60])
  }

  @Test func `never grows beyond max`() {
    let policy = ResumeDelay(policy: .beforeStart, initial: .seconds(60), factor: 100, max: .seconds(300))
    var state = ResumeState()
    for second in 0..<4 { state = state.resumed(at: Instant(nanoseconds: Int64(second)), policy) }
    #expect(state.period == .seconds(300))
    let short = ResumeDelay(policy: .beforeStart, initial: .seconds(60), factor: 2, max: .seconds(5))
    #expect(ResumeState().resumed(at: Instant(nanoseconds: 0), short).period == .seconds(5))
  }

  @Test func `treats a transfer that replaces one with a rejected token as new`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 9 }, quick: {} }
      resume_delay: { policy: before_start, initial: 60s, factor: 2, max: 6h }

      """
    let token = Yaml.token.replacing("session: s", with: "session: quick")
    var world = try World(Yaml.put("    token: login\n", head: head + token), files: Yaml.files(3)) { call in
      if call.step == .transfer, call.attempt.tokenGeneration == 1 { return .status(401) }
      return .status(200)
    }
    world.options.patience = .seconds(3600)
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    // Rejections of the same token are one challenge, which is the first resume. The end of the batch is the second.
    #expect(world.scheduler.totals.resumes == 2)
    let again = world.starts.filter { $0.attempt.step == .transfer && $0.attempt.tokenGeneration == 2 }
    #expect(again.count == 3)
    #expect(again.allSatisfy { world.start.duration(to: $0.at) >= .seconds(60) })
  }

  @Test func `makes the session's events pending once a batch has completed`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, on_events: [./done] } }

      """
    var world = try World(Yaml.put("    batch: { max_items: 2 }\n", head: head), files: Yaml.files(5)) { _ in
      .status(200)
    }
    world.run()
    #expect(world.entries.count { if case .batchCompleted = $0 { true } else { false } } == 3)
    #expect(world.machine.journal.owedEvents == [SessionID(0)])
  }
}
