import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// The effect of `ferry cancel` and `ferry submit` on a running launch.
@Suite("A session in a running launch")
struct CancelTests {
  private func world(_ yaml: String = Yaml.put()) throws -> World {
    try World(yaml, files: Yaml.files(6)) { _ in .status(200, after: .seconds(10)) }
  }

  @Test func `that is cancelled marks running and waiting items as cancelled`() throws {
    var world = try world()
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.totals.items.cancelled == 4)
    #expect(world.scheduler.itemRecords.allSatisfy { $0.reason?.code == "cancelled" })
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.scheduler.nodeRecords.map(\.state) == [.cancelled])
  }

  @Test func `that is cancelled succeeds if the launch accepts cancelled items`() throws {
    var world = try world()
    world.options.acceptsCancelled = true
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 4)
    #expect(world.scheduler.exitCode == .success)
  }

  /// An upload that waits for a request of another session.
  private func waiting(files: [String: [String: Int64]]) throws -> World {
    let head = """
      version: 1
      name: test
      sessions: { s: {}, other: {} }
      requests:
        hold: { session: other, request: { method: PUT, url: "http://host/hold" }, retry: { limit: 0 } }

      """
    let yaml = Yaml.put("    needs: [hold]\n", head: head)
    return try World(yaml, files: files) { _ in .status(503, after: .seconds(10)) }
  }

  private static let cancellations: [Occurrence] = [
    .cancel(SessionID(0), finishing: false), .cancel(SessionID(0), finishing: true), .drain(SessionID(0)),
  ]

  @Test(arguments: cancellations)
  func `that is cancelled cancels an upload that waits for another session, for the whole round`(
    event: Occurrence
  )
    throws
  {
    var world = try waiting(files: Yaml.files(3))
    world.machine.schedule(event, at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 3)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.scheduler.totals.items.cancelled == 3)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test(arguments: cancellations)
  func `that is cancelled cancels a waiting upload without files, which has not succeeded`(event: Occurrence)
    throws
  {
    var world = try waiting(files: ["up": [:]])
    world.machine.schedule(event, at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.nodeRecords.first { $0.name == "up" }?.state == .cancelled)
  }

  @Test func `that is cancelled still reports failed items and deferred work of others`() throws {
    let more = """
      requests:
        note: { session: other, request: { method: POST, url: "http://host/note" } }

      """
    let head = "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 2 }, other: {} }\n"
    for (status, node) in [(200, ReportState.cancelled), (400, .failed)] {
      var world = try World(Yaml.put(more, head: head), files: Yaml.files(6)) { call in
        call.step == .request ? .status(400) : .status(status, after: .seconds(10))
      }
      world.options.acceptsCancelled = true
      world.machine.schedule(
        .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(15)))
      world.run()
      #expect(world.scheduler.exitCode == .itemsFailed)
      #expect(world.scheduler.nodeRecords.first?.state == node)
    }
  }

  @Test func `that is cancelled while it has a single request is not a success, also later in the round`()
    throws
  {
    let yaml = """
      version: 1
      name: test
      sessions: { s: {}, other: {} }
      requests:
        hold: { session: s, request: { method: PUT, url: "http://host/hold" } }
        note: { session: other, request: { method: POST, url: "http://host/note" }, retry: { limit: 0 } }

      """
    var world = try World(yaml) { call in
      call.node == "hold" ? .status(200, after: .seconds(10)) : .status(425)
    }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.scheduler.nodeRecords.first?.state == .cancelled)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.attempt.ref.node) == [NodeID(1)])
    #expect(world.scheduler.nodeRecords.map(\.state) == [.cancelled, .succeeded])
    #expect(world.scheduler.nodeRecords.first?.reason?.code == "cancelled")
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func `that is cancelled with finish completes running requests and starts no others`() throws {
    var world = try world()
    world.machine.schedule(.cancel(SessionID(0), finishing: true), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.scheduler.totals.items.cancelled == 2)
  }

  /// One file of each upload. Their session has a single connection, and those of `a` have the lowest priority.
  private func oneConnection(
    a: String, b: String, serve: @escaping (Call) -> Reply
  ) throws -> World {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 1 } }
      uploads:
        a: { session: s, files: { root: . }, priority: 0.0, retry: { limit: 0 }, \(a) }
        b: { session: s, files: { root: . }, \(b) }

      """
    return try World(yaml, files: ["a": ["f00": 10], "b": ["f00": 10]], serve: serve)
  }

  private func steps(_ world: World) -> [String] {
    world.starts.map { "\(world.scheduler.plan.nodes[$0.attempt.ref.node.index].name) \($0.attempt.step)" }
  }

  /// While the allocation of `b/f00` uses the connection, `a/f00` is waiting for it.
  @Test func `that is cancelled with finish starts no item that waits for a connection`() throws {
    var world = try oneConnection(
      a: #"transfer: { request: { url: "http://host/a" } }"#,
      b: """
        allocate: { request: { method: POST, url: "http://host/b" }, capture: { id: { json: /id } }, valid_for: 1h }, \
        transfer: { request: { url: "http://host/b/${allocate.id}" } }
        """
    ) { _ in .status(200, after: .seconds(10)) }
    world.machine.schedule(.cancel(SessionID(0), finishing: true), at: world.start.advanced(by: .seconds(5)))
    world.run()
    #expect(steps(world) == ["b allocate", "b transfer"])
    #expect(world.scheduler.nodeRecords.map(\.state) == [.cancelled, .succeeded])
  }

  /// The first launch has sent `a/f00`. In the second one, its commit waits for the connection.
  @Test func `that is cancelled with finish completes items that an earlier launch has transferred`() throws {
    var world = try oneConnection(
      a: """
        transfer: { protocol: post, request: { url: "http://host/a" } }, \
        commit: { request: { method: POST, url: "http://host/commit" } }
        """,
      b: #"transfer: { request: { url: "http://host/b" } }"#
    ) { call in
      .status(call.step == .commit || call.node == "b" ? 425 : 200, after: .seconds(1))
    }
    world.run()
    world.serve = { _ in .status(200, after: .seconds(10)) }
    world.now = world.now.advanced(by: .seconds(3_600))
    world.machine.schedule(.cancel(SessionID(0), finishing: true), at: world.now.advanced(by: .seconds(5)))
    world.run()
    #expect(steps(world) == ["b transfer", "a commit"])
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test func `that is drained completes its batch, and cancels items that were not queued`() throws {
    let more = """
      requests:
        after: { session: s, needs: [up], request: { method: POST, url: "http://host/after" } }

      """
    for (batch, done) in [("", 6), ("    batch: { max_items: 3 }\n", 3)] {
      var world = try world(Yaml.put(batch + more))
      let submitted = world.start.advanced(by: .seconds(16))
      world.machine.schedule(.drain(SessionID(0)), at: world.start.advanced(by: .seconds(15)))
      world.machine.schedule(.submit(NodeID(0), files("new")), at: submitted)
      world.run()
      #expect(world.scheduler.totals.items.done == done)
      #expect(world.scheduler.totals.items.cancelled == 6 - done)
      #expect(!world.starts.contains { $0.path == "new" || $0.attempt.step == .request })
      #expect(world.scheduler.nodeRecords.last?.state == .cancelled)
      #expect(world.scheduler.isRoundThrough)
    }
  }

  /// The session has items that run, wait, or belong to a later batch, an upload that has not opened, and a request.
  @Test(arguments: 0..<3)
  func `that is cancelled with a reason records it with everything that it ends`(manner: Int) throws {
    let more = """
          batch: { max_items: 4 }
        later:
          session: s
          needs: [up]
          files: { root: . }
          transfer: { request: { url: "http://host/later/${file.path}" } }
      requests:
        after: { session: s, needs: [up], request: { method: POST, url: "http://host/after" } }

      """
    let reason = RecordedFailure.cancelled(try CancelReason("disk full"))
    let event: Occurrence =
      manner == 2
      ? .drain(SessionID(0), failure: reason)
      : .cancel(SessionID(0), finishing: manner == 1, failure: reason)
    var world = try World(
      Yaml.put(more), files: Yaml.files(6).merging(["later": ["x": 1]]) { $1 }
    ) { _ in .status(200, after: .seconds(10)) }
    world.machine.schedule(event, at: world.start.advanced(by: .seconds(15)))
    world.run()
    let closed = world.entries.compactMap { entry -> RecordedFailure?? in
      if case .itemClosed(_, .cancelled, let failure, _) = entry { failure } else { nil }
    }
    // At least the items of the second batch, the item of the second upload, and the request are closed.
    #expect(closed.count >= 4)
    #expect(closed.allSatisfy { $0 == reason }, "\(closed)")
    #expect(world.scheduler.nodeRecords.last?.reason == reason)
    #expect(reason.code == "cancelled" && reason.message == "canceled by ferry cancel: disk full")
  }

  @Test func `that is removed records this under another code, and its upload counts as cancelled`() throws {
    let reason = RecordedFailure.cancelled(try CancelReason("lost phone"), removesSession: true)
    var world = try World(
      """
      version: 1
      name: test
      sessions: { s: {} }
      requests:
        hold: { session: s, request: { method: PUT, url: "http://host/hold" } }

      """
    ) { _ in .status(200, after: .seconds(10)) }
    world.machine.schedule(
      .cancel(SessionID(0), finishing: false, failure: reason), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.nodeRecords.map(\.state) == [.cancelled])
    #expect(world.scheduler.nodeRecords.first?.reason?.code == "session_removed")
    #expect(
      reason.message == "canceled by ferry cancel under force_quit: remove_session: lost phone")
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func `that is cancelled leaves other sessions alone`() throws {
    let more = """
      requests:
        note: { session: other, request: { method: POST, url: "http://host/note" } }

      """
    let head = "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 2 }, other: {} }\n"
    var world = try world(Yaml.put(more, head: head))
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.nodeRecords.map(\.state) == [.cancelled, .succeeded])
    #expect(world.scheduler.totals.items.cancelled == 6)
  }

  @Test func `that is cancelled also cancels later batches of the round`() throws {
    let more = """
      requests:
        note: { session: other, request: { method: POST, url: "http://host/note" }, retry: { limit: 0 } }

      """
    let head = "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 2 }, other: {} }\n"
    var world = try world(Yaml.put("    batch: { max_items: 2 }\n" + more, head: head))
    world.serve = { call in
      call.step == .request ? .status(425) : .status(200, after: .seconds(10))
    }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 6)
    // Files that had not started are counted, but have no record.
    #expect(world.scheduler.itemRecords.map(\.state) == [.cancelled, .cancelled])
    // The remaining request keeps the round open.
    #expect(!world.scheduler.isRoundThrough)
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.scheduler.totals.items.cancelled == 6)
  }

  @Test func `sends submitted files after the files that it has`() throws {
    var world = try world()
    var files = FileColumns()
    files.append(path: "new".utf8, size: 10, modified: 0)
    files.append(path: "f01".utf8, size: 10, modified: 0)
    world.machine.schedule(.submit(NodeID(0), files), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.done == 7)
    #expect(world.starts.last?.path == "new")
  }

  private func files(_ paths: String...) -> FileColumns {
    var files = FileColumns()
    for path in paths { files.append(path: path.utf8, size: 10, modified: 0) }
    return files
  }

  private func sized(_ paths: String...) -> [String: Int64] {
    Dictionary(uniqueKeysWithValues: paths.map { ($0, 10) })
  }

  /// The index has the higher priority and ends long before the photos.
  private static let galleries = """
    version: 1
    name: test
    sessions: { s: { max_connections_per_host: 2 } }
    uploads:
      photos: { session: s, priority: low, files: { root: /p }, transfer: { request: { url: "http://host/p/${file.path}" } } }
      index: { session: s, priority: high, files: { root: /i }, transfer: { request: { url: "http://host/i/${file.path}" } } }
    requests:
      note: { session: s, needs: [index], request: { method: POST, url: "http://host/note" } }

    """

  @Test func `opens an upload again that has ended, and its files overtake the others`() throws {
    let listed = ["photos": sized("a", "b", "c", "d", "e", "f"), "index": sized("one")]
    var world = try World(Self.galleries, files: listed) { _ in .status(200, after: .seconds(10)) }
    world.machine.schedule(.submit(NodeID(1), files("two")), at: world.start.advanced(by: .seconds(25)))
    world.run()
    let paths = world.starts.map(\.path)
    let index = try #require(paths.firstIndex(of: "two"))
    #expect(Set(paths[index...].dropFirst()).isSuperset(of: ["f"]), "\(paths)")
    #expect(world.scheduler.totals.items.done == 8)
    // The request that needs the upload was sent when the upload first ended, and is not repeated.
    #expect(world.starts.count { $0.attempt.step == .request } == 1)
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.nodeRecords.map(\.state) == [.succeeded, .succeeded, .succeeded])
  }

  @Test func `keeps a failure of an upload that is opened again`() throws {
    let listed = ["photos": sized("a", "b", "c", "d"), "index": sized("one")]
    var world = try World(Self.galleries, files: listed) { call in
      call.path == "one" ? .status(400) : .status(200, after: .seconds(10))
    }
    world.machine.schedule(.submit(NodeID(1), files("two")), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.done == 5)
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.scheduler.nodeRecords.first { $0.name == "index" }?.state == .failed)
  }

  @Test func `does not open an upload again that was skipped or cancelled`() throws {
    var world = try World(Self.galleries, files: ["photos": sized("a", "b", "c", "d")]) { _ in
      .status(200, after: .seconds(10))
    }
    world.machine.schedule(
      .cancel(SessionID(0), finishing: true), at: world.start.advanced(by: .seconds(5)))
    world.machine.schedule(.submit(NodeID(1), files("two")), at: world.start.advanced(by: .seconds(7)))
    world.run()
    #expect(!world.starts.contains { $0.path == "two" })
  }

  // MARK: Manifests that join

  private static func gallery(_ name: String) -> String {
    galleries.replacing("name: test", with: "name: \(name)").replacing(
      "s: { max", with: "s: { identifier: shared, max")
  }

  /// Runs a launch of one gallery that another one joins. Returns the paths in the order in which they were sent.
  private func joined(_ body: (inout Scheduler) -> [Action]) throws -> [String] {
    let (first, second) = (try Plan(yaml: Self.gallery("one")), try Plan(yaml: Self.gallery("two")))
    var table = ItemTable()
    for (row, path) in ["a", "b", "c", "d"].enumerated() {
      table.append(path: path.utf8, size: 10, modified: 0, row: Int64(row + 1), entry: .new)
    }
    var scheduler = Scheduler(
      plan: first,
      starts: [
        .upload(table, .init()), .upload(ItemTable(), .init()), .open,
      ], options: LaunchOptions(seed: 1))
    var paths: [String] = []
    var (recorded, running): (UInt64, [UInt64]) = (0, [])
    func perform(_ actions: [Action]) {
      var actions = actions
      while !actions.isEmpty {
        var synced: UInt64?
        for action in actions {
          switch action {
          case .start(let attempt):
            running.append(attempt.id)
            paths.append(scheduler.path(of: attempt.ref).map { String(decoding: $0, as: UTF8.self) } ?? "")
          case .record:
            recorded += 1
            synced = recorded
          case .cancel, .sync, .lease, .keepLeases, .windowExpired, .list, .end: break
          }
        }
        actions = synced.map { scheduler.handle(.synced(through: $0), at: Instant(nanoseconds: 1)) } ?? []
      }
    }
    perform(scheduler.handle(.launched, at: Instant(nanoseconds: 1)))
    let combined = try Plan(combining: [first, second])
    scheduler.join(combined, starts: [.submissions, .submissions, .notSelected])
    #expect(scheduler.takesItems(NodeID(4)))
    perform(body(&scheduler))
    while !running.isEmpty {
      let id = running.removeFirst()
      perform(
        scheduler.handle(
          .finished([AttemptResult(id: id, answer: .response(.init(status: 200)))]),
          at: Instant(nanoseconds: 1)))
    }
    #expect(scheduler.hasEnded)
    #expect(scheduler.checkInvariants().isEmpty)
    return paths
  }

  @Test func `lets the submitted files of another manifest overtake those that wait`() throws {
    var items = ItemTable()
    items.append(path: "two".utf8, size: 10, modified: 0, row: 9, entry: .new)
    var nodes: [RunRecord.NodeRecord] = []
    let paths = try joined { scheduler in
      let actions = scheduler.handle(.submitted(NodeID(4), items), at: Instant(nanoseconds: 1))
      nodes = scheduler.nodeRecords
      return actions
    }
    #expect(paths == ["a", "b", "two", "", "c", "d"], "\(paths)")
    #expect(nodes.map(\.manifest) == ["one", "one", "one", "two", "two", "two"])
    #expect(nodes.map(\.state)[3] == .notSelected)
  }
}
