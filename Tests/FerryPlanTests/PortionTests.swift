import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Files that arrive in portions while the first ones are sent.
@Suite struct `A listing in portions` {
  private static let background = """
    version: 1
    name: test
    sessions: { s: { kind: background, max_connections_per_host: 2 } }

    """

  private func world(_ yaml: String = Yaml.put(head: background), files: Int = 10) throws -> World {
    var world = try World(yaml, files: Yaml.files(files)) { _ in .status(200, after: .milliseconds(20)) }
    world.machine.portion = 3
    // Each portion takes longer than the requests of the previous one.
    world.machine.listingDelay = .milliseconds(500)
    return world
  }

  private func lists(_ world: World) -> Int {
    world.actions.count { if case .list = $0 { true } else { false } }
  }

  @Test(arguments: [Yaml.put(head: background), Yaml.put()])
  func `sends the first files before the others are listed, and each file once`(yaml: String) throws {
    var world = try world(yaml)
    world.launch()
    while lists(world) == 0, world.step() {}
    while world.scheduler.totals.items.done < 3, world.step() {}
    #expect(world.scheduler.isListing && world.scheduler.itemsOpen == 0 && lists(world) == 1)
    while world.step() {}
    #expect(world.scheduler.totals.items.done == 10 && world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .success && !world.scheduler.isListing)
    let paths = world.starts.filter { $0.attempt.step == .transfer }.map(\.path)
    #expect(paths == paths.sorted() && Set(paths).count == 10 && paths.count == 10)
  }

  @Test func `requests a portion only when the previous one is queued on disk`() throws {
    var world = try world()
    world.run()
    #expect(lists(world) == 3)
    var queued = 0
    var isOnDisk = true
    for action in world.actions {
      switch action {
      case .record(let entries):
        for case .itemsQueued(_, let items, _) in entries { (queued, isOnDisk) = (items.upperBound, false) }
      case .sync: isOnDisk = true
      case .list: #expect(isOnDisk && queued % 3 == 0)
      case .start(let attempt): #expect(attempt.ref.item.map { $0 < queued } ?? true)
      default: break
      }
    }
    #expect(queued == 10)
  }

  private func items(_ numbers: Range<Int>) -> ItemTable {
    var table = ItemTable()
    for number in numbers {
      table.append(path: "f\(number)".utf8, size: 1, modified: 0, row: Int64(number + 1), entry: .new)
    }
    return table
  }

  @Test func `does not stop requests while a further portion is synced`() throws {
    let plan = try Plan(yaml: Yaml.put(head: Self.background))
    var scheduler = Scheduler(
      plan: plan, starts: [.upload(items(0..<3), .init())], listsInPortions: [NodeID(0)],
      options: LaunchOptions(seed: 1))
    let now = Instant(nanoseconds: 1_000_000_000)
    func started(_ actions: [Action]) -> [Attempt] {
      actions.compactMap { if case .start(let attempt) = $0 { attempt } else { nil } }
    }
    #expect(started(scheduler.handle(.launched, at: now)).isEmpty)
    let first = started(scheduler.handle(.synced(through: 1), at: now))
    #expect(first.map(\.ref.item) == [0, 1])
    #expect(started(scheduler.handle(.listed(NodeID(0), .portion(items(3..<6))), at: now)).isEmpty)
    let done = first.map { AttemptResult(id: $0.id, answer: .response(.init(status: 200))) }
    // The third file is queued on disk, but the fourth is not.
    let third = started(scheduler.handle(.finished(done), at: now))
    #expect(third.map(\.ref.item) == [2])
    #expect(started(scheduler.handle(.synced(through: 2), at: now)).map(\.ref.item) == [3])
  }

  private static let cancellations: [Occurrence] = [
    .cancel(SessionID(0), finishing: false), .cancel(SessionID(0), finishing: true), .drain(SessionID(0)),
  ]

  @Test(arguments: cancellations)
  func `that is canceled also cancels the files that are not listed yet`(event: Occurrence) throws {
    var world = try world()
    world.machine.schedule(event, at: world.start.advanced(by: .milliseconds(300)))
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    #expect(world.scheduler.totals.items.cancelled == 7)
    #expect(world.scheduler.isRoundThrough)
    #expect(world.machine.journal.items[0].count == 10)
  }

  @Test func `that is interrupted by a stop leaves the upload open, and the next launch sends the rest`()
    throws
  {
    var world = try world()
    world.machine.schedule(.stop(.terminate), at: world.start.advanced(by: .milliseconds(300)))
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    #expect(!world.scheduler.isRoundThrough && world.scheduler.exitCode == .terminated)
    #expect(world.scheduler.nodeRecords.map(\.state) == [.waiting])
    world.run()
    #expect(world.scheduler.totals.items.done == 10 && world.scheduler.isRoundThrough)
    #expect(lists(world) == 0)
  }

  @Test func `that arrives while the end of an execution window is synced is counted as waiting`() throws {
    let head = Self.background.replacing("kind: background", with: "kind: default")
    let yaml = Yaml.post(head: head + "execution_window: { background: 5s }\n")
    var world = try World(yaml, files: Yaml.files(10)) { _ in .status(200, after: .seconds(10)) }
    world.machine.portion = 3
    // The second portion is requested at 1 ms, after the first sync. It arrives while the outcomes of the requests that
    // the window's end cancels are synced, which takes 1 ms.
    world.machine.listingDelay = .microseconds(4_999_500)
    world.run()
    #expect(lists(world) == 1 && world.machine.unlistedCount(of: NodeID(0)) == 4)
    #expect(world.scheduler.totals.items.ambiguous == 2 && world.scheduler.totals.items.waiting == 4)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test func `continues although the connection limit, the budget or the server holds all files`() throws {
    var world = try World(Yaml.put(head: Self.background), files: Yaml.files(10)) { _ in .status(503) }
    world.machine.portion = 3
    world.run()
    #expect(world.scheduler.totals.items.waiting + world.scheduler.totals.items.failed == 10)
    #expect(!world.scheduler.isListing)
  }

  @Test func `is used only if the order of listing and sending does not matter`() throws {
    let fetch = """
      fetches:
        news: { session: s, request: { url: "http://h/news" }, save_to: news.txt }

      """
    let request = """
      requests:
        hold: { session: s, request: { method: PUT, url: "http://host/hold" } }

      """
    let download = """
      downloads:
        news: { session: s, items: { urls: ["http://h/news"], save_to: "news/${item.name}" } }

      """
    let delay = "resume_delay: { policy: before_start }\n"
    let cases: [(yaml: String, isPossible: Bool)] = [
      (Yaml.put(head: Self.background), true), (Yaml.put(), true),
      (Yaml.put("    batch: { max_items: 4 }\n"), false),
      (Yaml.put("    after: delete\n"), false), (Yaml.put("    after: { move_to: sent }\n"), false),
      (Yaml.ids(), false), (Yaml.put() + fetch, false),
      (Yaml.put("    needs: [hold]\n") + request, false),
      (Yaml.put(head: Self.background + delay), false), (Yaml.put(head: Yaml.head + delay), true),
      (Yaml.put().replacing("{ root: . }", with: "{ root: ., list: list.txt }"), false),
      (Yaml.put() + download, false), (Yaml.put("    token: login\n", head: Yaml.head + Yaml.token), true),
    ]
    for (yaml, isPossible) in cases {
      let plan = try Plan(yaml: yaml)
      let upload = try #require(plan.nodes.firstIndex { $0.kind == .upload })
      #expect(plan.listsInPortions(NodeID(upload)) == isPossible, "\(yaml)")
    }
  }
}
