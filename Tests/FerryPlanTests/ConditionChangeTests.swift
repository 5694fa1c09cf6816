import FerryManifest
import FerryPlan
import Testing

/// What happens when the network or power source changes during a launch.
@Suite("Conditions that change during a launch")
struct ConditionChangeTests {
  private func world(_ session: String, _ conditions: DeviceConditions) throws -> World {
    let head = "version: 1\nname: test\nsessions: { s: { max_connections_per_host: 2, \(session) } }\n"
    var world = try World(Yaml.put(head: head), files: Yaml.files(6)) { _ in .status(200, after: .seconds(10))
    }
    world.options.conditions = conditions
    return world
  }

  @Test func `stop requests that are no longer allowed, and resume them once allowed`() throws {
    var world = try world("allows_cellular: false", .init(network: .wifi))
    world.options.patience = .seconds(600)
    world.machine.schedule(.conditions(.init(network: .cellular)), at: world.start.advanced(by: .seconds(15)))
    world.machine.schedule(.conditions(.init(network: .wifi)), at: world.start.advanced(by: .seconds(100)))
    world.run()
    #expect(world.scheduler.totals.items.done == 6)
    let seconds = world.starts.map { Int(world.start.duration(to: $0.at).seconds.rounded()) }
    #expect(seconds == [0, 0, 10, 10, 100, 100, 110, 110])
  }

  @Test func `end a launch that does not wait, with the reason`() throws {
    var world = try world("discretionary: true", .init(power: .external))
    world.machine.schedule(.conditions(.init(power: .battery)), at: world.start.advanced(by: .seconds(15)))
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.totals.items.waiting == 4)
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.scheduler.nodeRecords[0].reason?.code == "power")
  }

  @Test func `let a launch wait no longer than its limit`() throws {
    var world = try world("discretionary: true", .init(power: .battery))
    world.options.patience = .seconds(90)
    world.run()
    #expect(Int(world.start.duration(to: world.now).seconds) == 90)
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func `do not cut off a step that is never sent again`() throws {
    let head = "version: 1\nname: test\nsessions: { s: { allows_cellular: false } }\n"
    var world = try World(Yaml.post(head: head), files: Yaml.files(1)) { _ in
      .status(200, after: .seconds(10))
    }
    world.options.conditions = .init(network: .wifi)
    world.machine.schedule(.conditions(.init(network: .cellular)), at: world.start.advanced(by: .seconds(5)))
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
  }
}
