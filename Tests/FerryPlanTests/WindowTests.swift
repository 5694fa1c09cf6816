import FerryManifest
import FerryPlan
import Testing

/// Execution windows, and the effect of SIGHUP.
@Suite("An execution window")
struct WindowTests {
  private func world(
    _ window: String, kind: String = "default", launch: LaunchKind = .background,
    answer: Duration = .seconds(10)
  ) throws -> World {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: \(kind), max_connections_per_host: 2 } }
      execution_window: \(window)

      """
    var world = try World(Yaml.put(head: head), files: Yaml.files(8)) { _ in .status(200, after: answer) }
    world.options.launch = launch
    return world
  }

  private func expiries(_ world: World) -> Int {
    world.actions.count { if case .windowExpired = $0 { true } else { false } }
  }

  @Test func `stops each request of default sessions once, reports it, and leaves it for the next launch`()
    throws
  {
    var world = try world("{ background: 25s }")
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.start.duration(to: world.now) < .seconds(26))
    #expect(world.scheduler.exitCode == .cutOff)
    #expect(world.scheduler.nodeRecords[0].reason == .expired)
    #expect(world.scheduler.itemRecords.map(\.reason?.code) == ["expired", "expired"])
    #expect(expiries(world) == 1)
    world.run()
    #expect(world.scheduler.totals.items.done == 8)
  }

  @Test func `does not end background sessions`() throws {
    var world = try world("{ background: 25s }", kind: "background")
    world.run()
    #expect(world.scheduler.totals.items.done == 8)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func `of 0 s starts nothing`() throws {
    var world = try world("{ background: 0s }")
    world.run()
    #expect(world.starts.isEmpty && world.hasEnded)
    #expect(world.scheduler.exitCode == .cutOff)
  }

  @Test(arguments: [("none", false), ("5s", true), ("0s", false)])
  func `is opened by each resume, for the work that the resume creates`(_ resume: String, _ isSent: Bool)
    throws
  {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 2 }, quick: {} }
      execution_window: { background: 5s, resume: \(resume) }
      resume_delay: { policy: before_start }

      """
    let note = """
      requests:
        note: { session: quick, needs: [up], request: { method: PUT, url: "http://host/note" } }

      """
    var world = try World(Yaml.put(note, head: head), files: Yaml.files(2)) { call in
      .status(200, after: call.step == .transfer ? .seconds(10) : .seconds(1))
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.starts.contains { $0.attempt.step == .request } == isSent)
    #expect(world.scheduler.exitCode == (isSent ? .success : .cutOff))
  }

  @Test func `of a resume ends too`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background }, quick: {} }
      execution_window: { background: 5s, resume: 5s }
      resume_delay: { policy: before_start }

      """
    let note = """
      requests:
        note: { session: quick, needs: [up], request: { method: PUT, url: "http://host/note" } }

      """
    var world = try World(Yaml.put(note, head: head), files: Yaml.files(1)) { _ in
      .status(200, after: .seconds(10))
    }
    world.run()
    #expect(world.scheduler.exitCode == .cutOff)
    #expect(world.start.duration(to: world.now) < .seconds(16))
    // The window of the launch expired earlier.
    #expect(expiries(world) == 2)
  }

  @Test(arguments: ["", "discretionary: true, ", "budget"])
  func `that has ended is not waited for, because nothing can reopen it`(_ setting: String) throws {
    var yaml = Yaml.put(
      head: """
        version: 1
        name: test
        sessions: { s: { \(setting == "budget" ? "" : setting)max_connections_per_host: 2 } }
        execution_window: { background: 15s }

        """)
    if setting == "budget" { yaml += "budgets: { wired: { limit: 25B, per: hour } }\n" }
    var world = try World(yaml, files: Yaml.files(8)) { _ in .status(200, after: .seconds(10)) }
    world.options.patience = .seconds(7_200)
    if !setting.isEmpty {
      world.machine.schedule(
        .conditions(DeviceConditions(power: .battery)), at: world.start.advanced(by: .seconds(14)))
    }
    world.run()
    if setting.isEmpty { #expect(world.scheduler.exitCode == .cutOff) }
    #expect(world.start.duration(to: world.now) < .seconds(16))
  }

  @Test func `depends on the kind of launch`() throws {
    let window = "{ background: 15s, fetch: 25s, event: 35s, continuous: none }"
    let done: [LaunchKind: Int] = [.background: 2, .fetch: 4, .event: 6, .continuous: 8, .foreground: 8]
    for (launch, count) in done {
      var world = try world(window, launch: launch)
      world.run()
      #expect(world.scheduler.totals.items.done == count)
    }
  }

  @Test func `of a foreground launch starts at SIGHUP`() throws {
    var world = try world("{ foreground: 15s }", launch: .foreground)
    world.machine.schedule(.hangUp, at: world.start.advanced(by: .seconds(5)))
    world.run()
    // The window ends after 20 s. By then, two pairs of files have been sent in 10 s each.
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.scheduler.exitCode == .cutOff)
  }

  @Test func `allows at most a thousand concurrent requests`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 1000 } , t: { max_connections_per_host: 1000 } }
      execution_window: { background: 30s }

      """
    let more = """
        down:
          session: t
          files: { root: . }
          transfer: { request: { url: "http://other/${file.path}" } }

      """
    var files: [String: Int64] = [:]
    for index in 0..<900 { files["f\(index + 1000)"] = 1 }
    var world = try World(Yaml.put(more, head: head), files: ["up": files, "down": files]) { _ in
      .status(200, after: .seconds(1))
    }
    world.launch()
    while world.starts.count < 1000, world.step() {}
    #expect(world.starts.count == 1000)
  }
}
