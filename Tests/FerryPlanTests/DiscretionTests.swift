import FerryManifest
import FerryPlan
import Testing

/// The discretion that ferry infers for tasks whose manifest does not set it.
@Suite("Inferred discretion")
struct DiscretionTests {
  private static let ios = """
    version: 1
    name: test
    profile: ios
    sessions: { s: { kind: background, max_connections_per_host: 1 }, quick: {} }
    resume_delay: { policy: none }

    """

  /// A file that is submitted later in the test.
  private static var more: FileColumns {
    var files = FileColumns()
    files.append(path: "more".utf8, size: 5, modified: 1, identity: 1)
    return files
  }

  private func world(_ more: String = "", files: Int = 4) throws -> World {
    var world = try World(Yaml.put(more, head: Self.ios), files: Yaml.files(files)) { _ in
      .status(200, after: .seconds(10))
    }
    world.options.launch = .foreground
    return world
  }

  /// Stops the first launch, in the foreground, before its end, and prepares a launch in the background on battery.
  private func interrupted(_ world: inout World) {
    world.machine.schedule(.stop(.now), at: world.start.advanced(by: .seconds(15)))
    world.run()
    world.options.launch = .background
    world.options.conditions.power = .battery
    world.now = world.start.advanced(by: .seconds(3600))
  }

  @Test func `does not bind files that a foreground launch queued`() throws {
    var world = try world()
    interrupted(&world)
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func `binds files that a later launch queues, while the others of the upload are sent`() throws {
    var world = try world("    batch: { max_items: 9 }\n")
    interrupted(&world)
    world.machine.schedule(.submit(NodeID(0), Self.more), at: world.start.advanced(by: .seconds(3605)))
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.scheduler.nodeRecords[0].reason?.code == "power")
    // On external power, the remaining files are sent.
    world.options.conditions.power = .external
    world.run()
    #expect(world.scheduler.totals.items.waiting == 0)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func `ends with a foreground launch`() throws {
    var world = try world()
    world.options.launch = .background
    world.options.conditions.power = .battery
    world.run()
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.exitCode == .deferred)
    world.options.launch = .foreground
    world.now = world.start.advanced(by: .seconds(600))
    interrupted(&world)
    world.run()
    #expect(world.scheduler.totals.items.done + world.scheduler.totals.items.unchanged == 4)
  }

  @Test func `stops running transfers when the power source changes, but only discretionary ones`() throws {
    for launch in [LaunchKind.foreground, .background] {
      var world = try world()
      world.options.launch = launch
      world.machine.schedule(
        .conditions(DeviceConditions(power: .battery)), at: world.start.advanced(by: .seconds(15)))
      world.run()
      #expect(world.scheduler.totals.items.done == (launch == .foreground ? 4 : 1))
    }
  }

  @Test(arguments: [("", 2), ("discretionary: true, ", 0)])
  func `never binds a default session`(_ setting: String, _ done: Int) throws {
    let head = Self.ios.replacing("kind: background, ", with: setting)
    var world = try World(Yaml.put(head: head), files: Yaml.files(2)) { _ in .status(200) }
    world.options.launch = .background
    world.options.conditions.power = .battery
    world.run()
    #expect(world.scheduler.totals.items.done == done)
  }

  @Test func `of a token does not hold the files that need it`() throws {
    let head = Self.ios + Yaml.token
    var world = try World(Yaml.put("    token: login\n", head: head), files: Yaml.files(2)) { call in
      .status(200, after: call.step == .token ? .seconds(1) : .seconds(10))
    }
    world.options.launch = .foreground
    interrupted(&world)
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test func `decides which budgets bind a file`() throws {
    let budget = "budgets: { wired: { limit: 1B, per: day, binds: discretionary } }\n"
    var world = try World(Yaml.put(head: Self.ios + budget), files: Yaml.files(4)) { _ in
      .status(200, after: .seconds(10))
    }
    world.options.launch = .foreground
    interrupted(&world)
    world.options.conditions.power = .external
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
  }

  @Test func `survives a clock that was ahead in the foreground launch`() throws {
    var world = try world()
    world.now = world.start.advanced(by: .seconds(86_400))
    world.machine.schedule(.stop(.now), at: world.start.advanced(by: .seconds(86_400 + 15)))
    world.run()
    world.options.launch = .background
    world.options.conditions.power = .battery
    world.now = world.start
    world.machine.schedule(.submit(NodeID(0), Self.more), at: world.start.advanced(by: .seconds(5)))
    world.run()
    #expect(!world.starts.contains { $0.path == "more" })
    #expect(world.scheduler.exitCode == .deferred)
  }
}
