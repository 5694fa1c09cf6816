import FerryManifest
import FerryPlan
import Testing

struct TokenTests {
  private let yaml = Yaml.put("    token: login\n", head: Yaml.head + Yaml.token)

  private func tokens(_ world: World) -> [World.Start] { world.starts.filter { $0.attempt.step == .token } }

  @Test func aTokenIsFetchedOnceForAllItemsThatWait() throws {
    var world = try World(yaml, files: Yaml.files(9)) { _ in .status(200) }
    world.run()
    #expect(tokens(world).count == 1)
    #expect(world.scheduler.totals.items.done == 9)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func aTokenIsRefreshedBeforeItExpires() throws {
    var world = try World(yaml, files: Yaml.files(6)) { call in
      call.step == .token
        ? .status(200, expires: call.now.advanced(by: .seconds(100))) : .status(200, after: .seconds(60))
    }
    world.run()
    // Two transfers run at a time, and each takes 60 s. The token expires at 100 s, and is not used in the 30 s before
    // its expiry.
    #expect(tokens(world).count == 2)
    #expect(
      world.starts.filter { $0.attempt.step == .transfer }.map(\.attempt.tokenGeneration) == [
        1, 1, 1, 1, 2, 2,
      ])
    #expect(world.scheduler.totals.tokenRefreshes == 1)
  }

  @Test func aTokenThatLivesShorterThanTwiceTheMarginIsUsedForHalfItsLife() throws {
    var world = try World(yaml, files: Yaml.files(6)) { call in
      call.step == .token
        ? .status(200, expires: call.now.advanced(by: .seconds(40))) : .status(200, after: .seconds(15))
    }
    world.run()
    #expect(
      world.starts.filter { $0.attempt.step == .transfer }.map(\.attempt.tokenGeneration) == [
        1, 1, 1, 1, 2, 2,
      ])
  }

  @Test(arguments: [Duration.zero, .seconds(-60)])
  func aTokenThatHasExpiredOnArrivalIsStillUsed(life: Duration) throws {
    var world = try World(yaml, files: Yaml.files(3)) { call in
      call.step == .token ? .status(200, expires: call.now.advanced(by: life)) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    #expect(tokens(world).count <= 3)
  }

  @Test func aRejectionOfAnOlderTokenDoesNotFetchANewOne() throws {
    // Both transfers carry the first token and are rejected. One rejection arrives after the second token.
    var world = try World(yaml, files: Yaml.files(2)) { call in
      guard call.step == .transfer, call.attempt.tokenGeneration == 1 else { return .status(200) }
      return .status(401, after: call.path == "f00" ? .milliseconds(10) : .milliseconds(500))
    }
    world.run()
    #expect(tokens(world).count == 2)
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test func anItemWhoseTokenIsRejectedThreeTimesFailsAndTheRunExitsWith7() throws {
    var world = try World(yaml, files: Yaml.files(2)) { call in
      call.step == .transfer && call.path == "f00" ? .status(401) : .status(200)
    }
    world.run()
    #expect(world.starts.count { $0.path == "f00" } == 3)
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.exitCode == .authorization)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func aStepThatSucceedsForgetsTheRejectionsOfThePreviousStep() throws {
    let yaml = Yaml.ids("    token: login\n", head: Yaml.head + Yaml.token)
    var world = try World(yaml, files: Yaml.files(1)) { call in
      call.step != .token && call.number <= 2 ? .status(401) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.totals.idsAllocated == 1)
  }

  @Test func aDeniedTokenLeavesItsItemsAndTheRoundOpen() throws {
    var world = try World(yaml, files: Yaml.files(5)) { call in .status(call.step == .token ? 403 : 200) }
    world.run()
    #expect(tokens(world).count == 1)
    #expect(world.scheduler.totals.items.waiting == 5)
    #expect(world.scheduler.exitCode == .authorization)
    #expect(!world.scheduler.isRoundThrough)
    // The next launch requests a new token.
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.done == 5)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func anUnreachableTokenServerLeavesTheItemsWaiting() throws {
    var world = try World(yaml, files: Yaml.files(5)) { call in call.step == .token ? .refused : .status(200)
    }
    world.run()
    #expect(tokens(world).count == 6)
    #expect(world.scheduler.totals.items.waiting == 5)
    #expect(world.scheduler.exitCode == .temporary)
  }
}
