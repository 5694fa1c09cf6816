import FerryManifest
import FerryPlan
import Testing

struct StopTests {
  /// A signal arrives while the `after` actions of the last files are performed.
  @Test func `is recorded if it arrives after the last request`() throws {
    var world = try World(Yaml.put(), files: ["up": ["f": 1]]) { _ in .status(200) }
    world.run()
    #expect(world.scheduler.exitCode == .success && world.scheduler.timeAfterStop == nil)
    var scheduler = world.scheduler
    scheduler.recordStop(.terminate, at: world.now.advanced(by: .seconds(1)))
    #expect(scheduler.exitCode == .terminated && scheduler.stoppedAt == world.now.advanced(by: .seconds(1)))
    #expect(scheduler.timeAfterStop == .seconds(5))
    scheduler.recordStop(.terminate, at: world.now.advanced(by: .seconds(2)))
    #expect(scheduler.exitCode == .terminated && scheduler.timeAfterStop == .zero)
  }

  @Test(arguments: [(StopCause.interrupt, ExitCode.interrupted), (.terminate, .terminated)])
  func aStopStartsNothingMoreAndLetsRequestsComplete(cause: StopCause, code: ExitCode) throws {
    var world = try World(Yaml.put(), files: Yaml.files(6)) { _ in .status(200, after: .seconds(3)) }
    world.signals = [(world.start.advanced(by: .seconds(1)), cause)]
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.totals.items.waiting == 4)
    #expect(world.scheduler.exitCode == code)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test func requestsThatOutlastTheGracePeriodAreCancelledOnce() throws {
    var world = try World(Yaml.put(), files: Yaml.files(6)) { _ in .status(200, after: .seconds(100)) }
    world.signals = [(world.start.advanced(by: .seconds(1)), .terminate)]
    world.run()
    let cancelled = world.actions.compactMap { if case .cancel(let id) = $0 { id } else { nil } }
    #expect(cancelled == [1, 2])
    #expect(world.now < world.start.advanced(by: .seconds(7)))
    #expect(world.now >= world.start.advanced(by: .seconds(6)))
    #expect(world.scheduler.totals.items.waiting == 6)
    #expect(world.scheduler.exitCode == .terminated)
  }

  @Test func aSecondStopCancelsAtOnceAndKeepsTheFirstCode() throws {
    var world = try World(Yaml.put(), files: Yaml.files(6)) { _ in .status(200, after: .seconds(100)) }
    world.signals = [
      (world.start.advanced(by: .seconds(1)), .interrupt),
      (world.start.advanced(by: .seconds(2)), .terminate),
    ]
    world.run()
    #expect(world.now < world.start.advanced(by: .seconds(3)))
    #expect(world.scheduler.exitCode == .interrupted)
  }

  @Test func aStopDuringAWaitEndsTheLaunch() throws {
    var world = try World(Yaml.put(), files: Yaml.files(3)) { _ in .status(503, retryAfter: .seconds(300)) }
    world.signals = [(world.start.advanced(by: .seconds(1)), .interrupt)]
    world.run()
    #expect(world.hasEnded)
    #expect(world.now < world.start.advanced(by: .seconds(2)))
    #expect(world.scheduler.totals.items.waiting == 3)
  }

  @Test func theNextLaunchResumesAnItemWhereAStopInterruptedIt() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(1)) { _ in .status(200, after: .seconds(1)) }
    world.signals = [(world.start.advanced(by: .milliseconds(500)), .interrupt)]
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.allocate])
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.transfer, .commit])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.exitCode == .success)
  }
}
