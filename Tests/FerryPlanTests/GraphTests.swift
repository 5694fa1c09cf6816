import FerryManifest
import FerryPlan
import Testing

/// Which nodes run, in which order, and how many at a time.
struct GraphTests {
  private func requests(_ lines: String...) -> String {
    "requests:\n" + lines.map { "  \($0)\n" }.joined()
  }

  private func request(_ name: String, _ more: String = "") -> String {
    "\(name): { session: s, \(more) request: { url: \"http://host/\(name)\" } }"
  }

  private func states(_ world: World) -> [String: String] {
    Dictionary(uniqueKeysWithValues: world.scheduler.nodeRecords.map { ($0.name, $0.state.rawValue) })
  }

  @Test func connectionsToOneHostStayWithinTheLimitOfTheirSession() throws {
    let head = Yaml.head.replacing("sessions: { s: {", with: "sessions: { t: {}, s: {")
    let more = requests("r: { session: t, request: { url: \"http://host/r\" } }")
    var world = try World(Yaml.put(more, head: head), files: Yaml.files(12)) { _ in .status(200) }
    world.run()
    #expect(world.mostInFlight == 2)
    #expect(world.starts.prefix(3).allSatisfy { $0.at == world.start })
  }

  @Test func aHigherPriorityGoesFirst() throws {
    let second = """
        index:
          session: s
          priority: high
          files: { root: . }
          transfer: { request: { url: "http://host/index" } }

      """
    var files = Yaml.files(5)
    files["index"] = ["a": 1, "b": 1]
    var world = try World(Yaml.put(second), files: files) { _ in .status(200) }
    world.run()
    #expect(world.starts.prefix(2).map(\.path) == ["a", "b"])
    #expect(world.scheduler.totals.items.done == 7)
  }

  @Test(arguments: [
    ("max_items: 3", [3, 3, 1]), ("max_bytes: 25B", [2, 2, 2, 1]),
    ("max_items: 2, max_bytes: 1kB", [2, 2, 2, 1]),
    ("max_bytes: 5B", [1, 1, 1, 1, 1, 1, 1]),
  ])
  func aBatchIsQueuedWhenThePreviousOneHasCompleted(bound: String, sizes: [Int]) throws {
    var world = try World(Yaml.put("    batch: { \(bound) }\n"), files: Yaml.files(7)) { _ in .status(200) }
    world.run()
    var handedOver: [Int] = []
    var open = 0
    for entry in world.entries {
      switch entry {
      case .itemsQueued(_, let items, _):
        #expect(open == 0)
        handedOver.append(items.count)
        open = items.count
      case .itemClosed: open -= 1
      case .intentRecorded, .intentWithdrawn, .uploadIDAllocated, .transferAdvanced, .uploadIDUpdated,
        .fileTransferred,
        .uploadIDDiscarded,
        .sessionResumed, .sessionInForeground, .batchCompleted, .uploadIDOrphaned,
        .orphanResolved, .orphanReleaseFailed, .fetchFailed, .nodeFailing:
        break
      }
    }
    #expect(handedOver == sizes)
  }

  @Test func aBatchOfABackgroundSessionIsOnDiskBeforeItStarts() throws {
    let head = Yaml.head.replacing("{ max_conn", with: "{ kind: background, max_conn")
    var world = try World(Yaml.put(head: head), files: Yaml.files(1)) { _ in .status(200) }
    world.run()
    #expect(world.starts.first?.at == world.start.advanced(by: .milliseconds(1)))
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [
    (200, "succeeded", "succeeded"), (200, "failed", "skipped"), (200, "always", "succeeded"),
    (400, "succeeded", "skipped"), (400, "failed", "succeeded"), (400, "always", "succeeded"),
  ])
  func aRequestRunsIfItsDependenciesEndedAsWhenRequires(status: Int, when: String, state: String) throws {
    let yaml = Yaml.head + requests(request("a"), request("b", "needs: [a], when: \(when),"))
    var world = try World(yaml) { .status($0.node == "a" ? status : 200) }
    world.run()
    #expect(states(world)["b"] == state)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func dependentsOfASkippedNodeAreSkipped() throws {
    let yaml =
      Yaml.head
      + requests(
        request("a"), request("b", "needs: [a],"), request("c", "needs: [b],"),
        request("d", "needs: [c], when: always,"))
    var world = try World(yaml) { .status($0.node == "a" ? 400 : 200) }
    world.run()
    #expect(states(world) == ["a": "failed", "b": "skipped", "c": "skipped", "d": "succeeded"])
  }

  @Test func filesOfASkippedUploadAreReportedAsSkippedAndStayForTheNextRound() throws {
    let yaml = Yaml.put("    needs: [a]\n" + requests(request("a")))
    var world = try World(yaml, files: Yaml.files(3)) { .status($0.node == "a" ? 400 : 200) }
    world.run()
    #expect(world.scheduler.nodeRecords.map(\.state) == [.failed, .skipped])
    #expect(world.scheduler.totals.items.skipped == 3 && world.scheduler.totals.items.cancelled == 0)
    #expect(world.scheduler.isRoundThrough)
    world.round = 2
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
  }

  @Test func waitingIsNotAnOutcome() throws {
    let yaml = Yaml.put(requests(request("note", "needs: [up], when: always,")))
    var world = try World(yaml, files: Yaml.files(2)) { .status($0.path == "f00" ? 503 : 200) }
    world.run()
    #expect(states(world) == ["up": "waiting", "note": "waiting"])
    world.serve = { _ in .status(200) }
    world.run()
    #expect(states(world) == ["up": "succeeded", "note": "succeeded"])
    #expect(world.starts.count == 2)
  }

  @Test func dependenciesAreOnDiskBeforeADependentStarts() throws {
    let yaml = Yaml.head + requests(request("a"), request("b", "needs: [a],"))
    var world = try World(yaml) { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.at) == [world.start, world.start.advanced(by: .milliseconds(11))])
  }

  private let fetch = """
    fetches:
      f: { session: s, save_to: f, request: { url: "http://host/f" } }

    """

  @Test(arguments: [(200, FetchResult.newData), (304, .noData), (403, .failed)])
  func aFetchReportsItsResult(status: Int, result: FetchResult) throws {
    var world = try World(Yaml.head + fetch) { _ in .status(status) }
    world.run()
    #expect(world.scheduler.nodeRecords.map(\.result) == [result])
    #expect(world.scheduler.exitCode == (result == .failed ? .itemsFailed : .success))
  }

  @Test func aFetchThatIsNotDueCountsAsSucceeded() throws {
    var world = try World(Yaml.head + fetch + requests(request("r", "needs: [f],"))) { _ in .status(200) }
    world.startOverrides["f"] = .notDue(until: world.start.advanced(by: .seconds(60)))
    world.run()
    #expect(states(world) == ["f": "succeeded", "r": "succeeded"])
    #expect(world.starts.count == 1)
    #expect(world.scheduler.nodeRecords[0].notBefore == "2020-09-13T12:27:40.000Z")
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func theLimitBoundsTheNumberOfStartedItems() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(8)) { _ in .status(200) }
    world.options.limit = 3
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
    #expect(world.scheduler.totals.items.waiting == 5)
    #expect(world.scheduler.nodeRecords.first?.reason?.code == "limit")
    #expect(world.scheduler.exitCode == .success)
    #expect(!world.scheduler.isRoundThrough)
  }

  @Test func anEmptyPlanEndsAtOnce() throws {
    var world = try World(Yaml.put(), files: [:]) { _ in .status(200) }
    world.run()
    #expect(world.hasEnded)
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.isRoundThrough)
  }
}
