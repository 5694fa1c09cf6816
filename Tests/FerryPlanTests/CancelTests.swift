import FerryManifest
import FerryPlan
import Testing

/// `ferry cancel` and `ferry submit` while a launch runs.
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

  @Test func `that is cancelled cancels an upload that waits for another session, for the whole round`()
    throws
  {
    let head = """
      version: 1
      name: test
      sessions: { s: {}, other: {} }
      requests:
        hold: { session: other, request: { method: PUT, url: "http://host/hold" }, retry: { limit: 0 } }

      """
    let yaml = Yaml.put("    needs: [hold]\n", head: head)
    var world = try World(yaml, files: Yaml.files(3)) { _ in .status(503, after: .seconds(10)) }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 3)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.scheduler.totals.items.cancelled == 3)
    #expect(world.scheduler.isRoundThrough)
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
      call.node == "hold" ? .status(200, after: .seconds(10)) : .status(503)
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
      call.step == .request ? .status(503) : .status(200, after: .seconds(10))
    }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 6)
    // Files that had not been started are only counted.
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
}
