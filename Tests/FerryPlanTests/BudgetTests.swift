import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Budgets, which limit the bytes that sessions may transfer on a network in a window.
@Suite("A budget")
struct BudgetTests {
  private func head(_ cutoff: String, discretionary: String = "true", connections: Int = 2) -> String {
    """
    version: 1
    name: test
    sessions:
      s: { kind: background, max_connections_per_host: \(connections), discretionary: \(discretionary) }
    budgets: { wifi: { limit: 5MB, per: day, cutoff: \(cutoff) } }

    """
  }

  private func world(
    _ head: String, sizes: [Int64], patience: Duration = .zero, overhead: Int64 = 0
  ) throws -> World {
    var files: [String: Int64] = [:]
    for (index, size) in sizes.enumerated() { files["f\(index)"] = size }
    var world = try World(Yaml.put(head: head), files: ["up": files]) { call in
      var reply = Reply.status(200, after: .seconds(1))
      reply.sent = call.size
      reply.overhead = overhead
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.options.patience = patience
    return world
  }

  private func used(_ world: World) -> Int64 {
    let window = Budget.Window.day.span(containing: world.start, in: .utc)
    return world.machine.ledger.account(.wifi, window).moved
  }

  @Test(arguments: ["cautious", "hard"])
  func `sends what fits and holds the rest, including smaller items`(_ cutoff: String) throws {
    var world = try world(head(cutoff), sizes: [3_000_000, 3_000_000, 1_500_000, 400_000])
    world.run()
    #expect(world.starts.map(\.path) == ["f0", "f2", "f3"])
    #expect(used(world) == 4_900_000)
    let record = world.scheduler.nodeRecords[0]
    #expect(record.items?.waiting == 1)
    #expect(record.reason?.code == "budget")
    #expect(record.reason?.until == Budget.Window.day.span(containing: world.start, in: .utc).upperBound)
    #expect(record.reason?.budget?.limitBytes == 5_000_000)
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func `refuses a retry once a soft budget is used up, instead of asking for a lease again and again`()
    throws
  {
    let head = head("cautious").replacing("limit: 5MB", with: "limit: 10MB")
      .replacing("cautious } }", with: "cautious }, any: { limit: 3MB, per: day, cutoff: soft } }")
    var world = try world(head, sizes: [4_000_000])
    world.serve = { call in
      var reply = Reply.status(503, after: .seconds(1))
      reply.sent = call.size
      return reply
    }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.scheduler.nodeRecords[0].reason?.budget?.network == .any)
  }

  @Test func `with a soft cutoff lets started transfers finish`() throws {
    var world = try world(head("soft", connections: 1), sizes: [3_000_000, 3_000_000, 1_000])
    world.run()
    #expect(world.starts.map(\.path) == ["f0", "f1"])
    #expect(used(world) == 6_000_000)
  }

  @Test func `sends skipped files first in the next window`() throws {
    var world = try world(
      head("cautious", connections: 1), sizes: [3_000_000, 3_000_000, 1_000_000, 1_500_000],
      patience: .seconds(2 * 86_400))
    world.run()
    #expect(world.starts.map(\.path) == ["f0", "f2", "f1", "f3"])
    #expect(world.scheduler.totals.items.done == 4)
    let window = Budget.Window.day.span(containing: world.start, in: .utc)
    #expect(world.starts[2].at >= window.upperBound)
  }

  @Test func `that binds discretionary transfers does not limit others, but counts them`() throws {
    var world = try world(
      head("hard, binds: discretionary", discretionary: "false"), sizes: [3_000_000, 3_000_000])
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(used(world) == 6_000_000)
  }

  @Test func `limits inferred discretionary transfers only in a background launch`() throws {
    for (launch, done) in [(LaunchKind.background, 1), (.event, 1), (.foreground, 2)] {
      var world = try world(
        head("cautious, binds: discretionary", discretionary: "inferred"), sizes: [3_000_000, 3_000_000])
      world.options.launch = launch
      world.run()
      #expect(world.scheduler.totals.items.done == done)
    }
  }

  @Test func `of another network is not consulted`() throws {
    var world = try world(head("cautious"), sizes: [3_000_000, 3_000_000])
    world.options.conditions = DeviceConditions(network: .wired)
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test func `counts what other processes have used`() throws {
    var world = try world(head("cautious"), sizes: [3_000_000])
    world.machine.schedule(.othersMove(.wifi, 2_500_000), at: world.start)
    world.run()
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.nodeRecords[0].reason?.budget?.usedBytes == 2_500_000)
  }

  @Test func `counts the lease of a killed process`() throws {
    var world = try world(head("cautious"), sizes: [3_000_000, 2_500_000])
    world.die(afterActions: 3)
    world.run()
    #expect(world.isDead)
    world.die(afterActions: nil)
    world.run()
    let window = Budget.Window.day.span(containing: world.start, in: .utc)
    #expect(world.machine.ledger.account(.wifi, window).lost > 0)
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.exitCode == .deferred)
  }

  /// During the transfer, an hour ends, but the day does not.
  @Test func `counts the leases of a transfer after the end of another budget's window`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background } }
      budgets:
        wifi: { limit: 100MB, per: hour, cutoff: hard }
        any: { limit: 5MB, per: day, cutoff: hard }

      """
    var world = try world(head, sizes: [4_000_000])
    world.serve = { call in
      var reply = Reply.status(200, after: .seconds(4_000))
      reply.sent = call.size
      return reply
    }
    world.launch()
    let hour = Budget.Window.hour.span(containing: world.start, in: .utc)
    while world.now < hour.upperBound, world.step() {}
    let day = Budget.Window.day.span(containing: world.start, in: .utc)
    #expect(world.machine.ledger.account(.any, day).leased == 4_000_000)
    let next = Budget.Window.hour.span(containing: hour.upperBound, in: .utc)
    #expect(world.machine.ledger.account(.wifi, next).leased == 4_000_000)
  }

  @Test func `does not lease everything that remains for a small request, or longer than a fetch takes`()
    throws
  {
    let yaml =
      head("hard") + """
        requests:
          pre: { session: s, request: { method: POST, url: "http://host/pre", body: begin } }
        fetches:
          list: { session: s, needs: [pre], interval: every_run, save_to: list, request: { url: "http://host/l" } }
          bound:
            { session: s, needs: [list], interval: every_run, save_to: b, max_size: 1MB, request: { url: "http://host/b" } }

        """
    var world = try World(yaml) { _ in .status(200) }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.run()
    let leases = world.actions.compactMap { action -> Int64? in
      if case .lease(let request) = action { request.wanted } else { nil }
    }
    let bound: Int64 = 1_000_000 + 64 << 10
    #expect(leases == [1 << 20, .max, bound])
    #expect(world.starts.map(\.attempt.byteLimit) == [nil, 5_000_000, bound])
    let kept = world.actions.compactMap { action -> Int64? in
      if case .keepLeases(let bytes) = action { bytes } else { nil }
    }
    #expect(kept == [1 << 20, 1 << 20, 0])
  }

  /// A single request with a body of `size` bytes, to which the server responds with `status`.
  private func request(
    _ cutoff: String, size: Int64, method: String = "PUT", status: Int = 425, networks: String = "wifi"
  ) throws -> World {
    let yaml =
      head(cutoff).replacing("wifi:", with: "\(networks):") + """
        requests:
          publish:
            { session: s, request: { method: \(method), url: "http://host/r", body: { file: all } } }

        """
    var world = try World(yaml) { call in
      if let limit = call.attempt.bodyLimit, limit < size {
        var failure = TransportFailure(.byteLimit, "made up", mayHaveReachedServer: false)
        failure.refusedBodySize = size
        return Reply(answer: .failure(failure), after: .zero)
      }
      var reply = Reply.status(status)
      reply.sent = size
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    return world
  }

  @Test(arguments: ["cautious", "hard"])
  func `has room for the body of a single request each time that it is sent`(_ cutoff: String) throws {
    var world = try request(cutoff, size: 2_000_000)
    world.run()
    #expect(world.starts.map(\.attempt.bodyLimit) == [16 << 10, 2_000_000, 2_000_000])
    #expect(used(world) == 4_000_000)
    let record = world.scheduler.nodeRecords[0]
    #expect(record.reason?.code == "budget")
    #expect(record.reason?.message.hasSuffix("2.0 MB wanted") == true, "\(String(describing: record.reason))")
    // The attempt for which too few bytes were reserved was not sent.
    #expect(world.scheduler.totals.requests == 2)
    #expect(world.scheduler.exitCode == .deferred)
  }

  /// The request must not be repeated. It has not been sent for the third time, so that its outcome is known.
  @Test(arguments: ["cautious", "hard"])
  func `lets a request wait for another launch without an intent`(_ cutoff: String) throws {
    var world = try request(cutoff, size: 2_000_000, method: "POST")
    world.run()
    #expect(world.starts.count == 3 && world.scheduler.exitCode == .deferred)
    world.machine.now = world.machine.now.advanced(by: .seconds(86_400))
    let serve = world.serve
    world.serve = { call in
      var reply = serve(call)
      if case .response = reply.answer { reply.answer = Reply.status(200).answer }
      return reply
    }
    world.run()
    #expect(world.scheduler.exitCode == .success)
  }

  /// If the launch is killed during the wait, the next one knows that the request was not sent for the third time.
  @Test func `lets a request wait for another window without an intent`() throws {
    var world = try request("hard", size: 2_000_000, method: "POST")
    let serve = world.serve
    world.serve = { call in
      var reply = serve(call)
      if call.number == 4 { reply.answer = Reply.status(200).answer }
      return reply
    }
    world.options.patience = .seconds(2 * 86_400)
    world.run()
    #expect(world.scheduler.exitCode == .success)
    let attempts = 3 + 1 + 1
    #expect(world.intentEntries.count == 2 * attempts - 1)
    #expect(world.intentEntries.suffix(3) == [.recorded, .withdrawn, .recorded])
  }

  @Test(arguments: ["cautious", "hard", "soft"])
  func `refuses a single request whose body is larger than every budget`(_ cutoff: String) throws {
    var world = try request(cutoff, size: 6_000_000, method: "POST", status: 200, networks: "any")
    world.run()
    let isSent = cutoff == "soft"
    #expect(world.scheduler.totals.requests == (isSent ? 1 : 0))
    #expect(world.scheduler.nodeRecords[0].reason?.code == (isSent ? nil : "budget_never"))
    #expect(world.scheduler.exitCode == (isSent ? .success : .itemsFailed))
  }

  @Test func `fails a single request whose body the server requires more often than any budget allows`()
    throws
  {
    var world = try request("hard", size: 2_000_000, networks: "any")
    let serve = world.serve
    world.serve = { call in
      var reply = serve(call)
      if call.attempt.bodyLimit == 2_000_000 { reply.answer = Reply.fails(.byteLimit, reached: true).answer }
      return reply
    }
    world.run()
    #expect(world.starts.compactMap(\.attempt.bodyCopies) == [1, 1])
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget")
    world.machine.now = world.machine.now.advanced(by: .seconds(86_400))
    world.options.patience = .seconds(86_400)
    world.run()
    #expect(world.starts.compactMap(\.attempt.bodyCopies) == [1, 1, 2])
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget_never")
  }

  @Test func `fails a file that is larger than any network's budget permanently`() throws {
    let all = """
      version: 1
      name: test
      sessions: { s: { discretionary: true } }
      budgets:
        wifi: { limit: 5MB, per: day }
        wired: { limit: 6MB, per: day }
        cellular: { limit: 1MB, per: day }

      """
    var world = try world(all, sizes: [6_000_001, 5_500_000, 1_000])
    world.run()
    #expect(world.starts.map(\.path) == ["f2"])
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.itemRecords.first?.reason?.code == "budget_never")
    #expect(world.plan.canEverFit(5_500_000, of: NodeID(0), isDiscretionary: true))
    #expect(!world.plan.canEverFit(6_000_001, of: NodeID(0), isDiscretionary: true))
  }

  @Test(arguments: ["false", "true"], ["all", "discretionary"])
  func `limits the sessions that it binds`(_ discretionary: String, _ binds: String) throws {
    let head = head("cautious, binds: \(binds)", discretionary: discretionary, connections: 1)
    var world = try world(head, sizes: [3_000_000, 3_000_000])
    world.run()
    let isBound = binds == "all" || discretionary == "true"
    #expect(world.scheduler.totals.items.done == (isBound ? 1 : 2))
    #expect(world.scheduler.hasBudget == isBound)
  }

  @Test(arguments: ["", "profile: ios", "profile: ios7"])
  func `binds every session, or with the profiles of iOS discretionary ones`(_ profile: String) throws {
    let plan = try Plan(yaml: Yaml.put(head: head("soft", discretionary: "false") + profile + "\n"))
    #expect(plan.policies.budgets.wifi?.binds == (profile.isEmpty ? .all : .discretionary))
  }

  @Test func `of all networks together continues to count when the network changes`() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 1 } }
      budgets:
        any: { limit: 5MB, per: day }
        wired: { limit: 100MB, per: day }

      """
    var world = try world(head, sizes: [2_000_000, 2_000_000, 2_000_000])
    world.machine.schedule(
      .conditions(DeviceConditions(network: .wired)), at: world.start.advanced(by: .milliseconds(1500)))
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    let reason = world.scheduler.nodeRecords[0].reason
    #expect(reason?.budget?.network == .any && reason?.budget?.limitBytes == 5_000_000)
    #expect(reason?.message.hasPrefix("waiting for the budget of all networks together") == true)
    let window = Budget.Window.day.span(containing: world.start, in: .utc)
    // 1 MB of the second file was sent on the first network, and all of it again on the second.
    #expect(world.machine.ledger.account(.any, window).moved == 5_000_000)
  }

  @Test func `has no part in another session's limits`() throws {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { discretionary: true }, quick: {} }
      budgets:
        wifi: { limit: 5MB, per: day, binds: discretionary }
        any: { limit: 9MB, per: day }
      uploads:
        slow: { session: s, files: { root: slow }, transfer: { request: { url: "http://host/${file.path}" } } }
        fast: { session: quick, files: { root: fast }, transfer: { request: { url: "http://host/${file.path}" } } }

      """
    let sizes = ["a": 3_000_000, "b": 3_000_000] as [String: Int64]
    var world = try World(yaml, files: ["slow": sizes, "fast": sizes]) { call in
      var reply = Reply.status(200, after: .seconds(1))
      reply.sent = call.size
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.run()
    // The first file of the discretionary session fits both budgets, and its second file fits neither. The other files
    // share 9 MB.
    #expect(world.scheduler.nodeRecords.map { $0.items?.done } == [1, 2])
    #expect(world.scheduler.nodeRecords[0].reason?.budget != nil)
  }

  @Test func `of the next network counts when the network changes during the launch`() throws {
    var world = try world(head("cautious", connections: 1), sizes: [2_000_000, 2_000_000, 2_000_000])
    world.machine.schedule(
      .conditions(DeviceConditions(network: .wired)), at: world.start.advanced(by: .milliseconds(1500)))
    world.run()
    #expect(world.scheduler.totals.items.done == 3)
  }

  @Test func `with a hard cutoff gives a fetch all remaining bytes and stops it at the limit`() throws {
    let yaml =
      head("hard") + """
        fetches:
          big: { session: s, interval: every_run, save_to: big, request: { url: "http://host/big" } }

        """
    var world = try World(yaml) { _ in
      var reply = Reply.status(200, after: .seconds(10))
      reply.received = 8_000_000
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.run()
    #expect(world.starts.map(\.attempt.byteLimit) == [5_000_000])
    #expect(used(world) == 5_000_000)
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.scheduler.nodeRecords[0].reason?.code == "budget")
  }

  @Test(arguments: [(1, 1), (3, 1), (3, 3), (5, 2)])
  func `with a hard cutoff has room for each copy of a body that a redirect requires`(
    _ copies: Int64, files: Int
  ) throws {
    let sizes = Array(repeating: 1_000_000 as Int64, count: files)
    var world = try world(head("hard", connections: files), sizes: sizes)
    world.serve = { call in
      let allowed = call.attempt.bodyCopies ?? 0
      var reply = allowed < copies ? Reply.fails(.byteLimit, reached: true) : .status(200)
      reply.sent = min(allowed, copies) * call.size
      return reply
    }
    world.run()
    // Each request may send one copy more than the one before it.
    let attempts = world.starts.filter { $0.path == "f0" }.compactMap(\.attempt.bodyCopies)
    #expect(attempts == (1...Int64(attempts.count)).map { $0 })
    #expect(used(world) <= 5_000_000)
    let all = copies * (copies + 1) / 2 * 1_000_000 * Int64(files)
    #expect((world.scheduler.totals.items.done == files) == (all <= 5_000_000))
    #expect(world.scheduler.exitCode == (all <= 5_000_000 ? .success : .deferred))
  }

  // MARK: Files that are too large for the network's budget

  /// Two files of 2 kB, whose network has a budget of 1 kB, followed by four small files.
  private func worldOfLargeFiles(timeout: String = "7d") throws -> World {
    let head = """
      version: 1
      name: test
      sessions: { s: { timeout_for_resource: \(timeout) } }
      budgets: { wired: { limit: 1kB, per: hour } }

      """
    var world = try World(
      Yaml.put("    batch: { max_items: 2 }\n", head: head),
      files: ["up": ["a": 2_000, "b": 2_000, "c": 10, "d": 10, "e": 10, "f": 10]]
    ) { _ in .status(200) }
    world.options.conditions = .init(network: .wired)
    return world
  }

  @Test func largeFilesDoNotKeepLaterBatchesFromStarting() throws {
    var world = try worldOfLargeFiles()
    world.run()
    #expect(world.starts.map(\.path) == ["c", "d", "e", "f"])
    #expect(world.scheduler.totals.items.waiting == 2)
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func largeFilesFailOnceTheirTimeHasPassed() throws {
    var world = try worldOfLargeFiles(timeout: "1h")
    world.run()
    #expect(world.scheduler.totals.items.waiting == 2)
    world.machine.now = world.machine.now.advanced(by: .seconds(3_600))
    world.run()
    #expect(world.scheduler.totals.items.failed == 2)
    #expect(world.scheduler.isRoundThrough)
  }

  // MARK: Files that are sent in several requests

  private func worldOfParts(
    _ budget: String, validFor: String = "30d", batch: String = ""
  ) throws -> World {
    let yaml = """
      version: 1
      name: test
      sessions: { s: {} }
      budgets: { any: { limit: \(budget) } }
      uploads:
        up:
          session: s
          files: { root: . }
          \(batch)
          allocate:
            request: { method: POST, url: "http://host/up" }
            capture: { id: { json: /id } }
            valid_for: \(validFor)
          transfer: { protocol: content_range, chunk_size: 1MB, request: { url: "http://host/${allocate.id}" } }

      """
    var (stored, allocated) = (Int64(0), 0)
    var world = try World(yaml, files: ["up": ["f": 4_000_000]]) { call in
      guard call.step == .transfer else {
        (stored, allocated) = (0, allocated + 1)
        var reply = Reply.status(200)
        reply.uploadID = allocated
        return reply
      }
      if case .send(let range) = call.attempt.operation { stored = range.upperBound }
      var reply: Reply = stored == 4_000_000 ? .status(200) : .status(308, offset: stored)
      reply.after = .seconds(1)
      reply.sent = call.size
      return reply
    }
    world.options.conditions = .init(network: .wired)
    return world
  }

  private func parts(_ world: World) -> [Int64] {
    world.starts.compactMap { start in
      if case .send(let range) = start.attempt.operation { range.lowerBound / 1_000_000 } else { nil }
    }
  }

  @Test func partsStopAtAHardLimitAndContinueInTheNextWindow() throws {
    var world = try worldOfParts("2500kB, per: day, cutoff: hard")
    world.run()
    #expect(parts(world) == [0, 1])
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.scheduler.totals.bytes.useful == 2_000_000)
    world.machine.now = world.machine.now.advanced(by: .seconds(86_400))
    world.run()
    #expect(world.starts.first?.attempt.operation == .queryOffset)
    #expect(parts(world) == [2, 3])
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.totals.bytes.useful == 2_000_000 && world.scheduler.totals.bytes.resent == 0)
  }

  @Test func partsWaitForTheNextWindowOfTheSameLaunch() throws {
    var world = try worldOfParts("2500kB, per: hour, cutoff: hard")
    world.options.patience = .seconds(3 * 3_600)
    world.run()
    #expect(parts(world) == [0, 1, 2, 3])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [
    ("2500kB, per: day, cutoff: cautious", "30d"), ("2500kB, per: day, cutoff: hard", "25h"),
    ("2500kB, per: day, cutoff: hard", "3d"), ("500kB, per: day, cutoff: hard", "30d"),
  ])
  func filesInPartsMustFitAsAWholeUnlessTheyCanContinue(_ budget: String, _ validFor: String) throws {
    var world = try worldOfParts(budget, validFor: validFor)
    world.run()
    #expect(parts(world).isEmpty)
    #expect(world.scheduler.itemRecords.first?.reason?.code == "budget_never")
  }

  /// The first file has 2 MB in parts of 1 MB, and the server rejects its first part. A small file follows.
  @Test func partsLeaveTheRoomOfARejectedRequestToOthers() throws {
    var world = try worldOfParts("1500kB, per: day, cutoff: hard")
    world.files = ["up": ["a": 2_000_000, "b": 1_000]]
    let serve = world.serve
    world.serve = { call in
      guard call.step == .transfer, call.path == "a" else { return serve(call) }
      return .status(403, after: .seconds(1))
    }
    world.run()
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.starts.contains { $0.path == "b" && $0.attempt.step == .transfer })
  }

  /// The response to the last part is lost when too little of the budget remains for another part. The upload may expire
  /// before the next window, so the server is asked at once whether it has the file.
  @Test(arguments: ["hard", "cautious"], [false, true])
  func asksForTheOffsetOfAFileEvenIfTheBudgetIsUsedUp(_ cutoff: String, isInAnotherLaunch: Bool) throws {
    var world = try worldOfParts("4500kB, per: day, cutoff: \(cutoff)", validFor: "30d")
    let serve = world.serve
    world.serve = { call in
      if isInAnotherLaunch, call.attempt.operation == .queryOffset { return .refused }
      var reply = serve(call)
      if case .send(let range) = call.attempt.operation, range.upperBound == 4_000_000 {
        reply.answer = Reply.lost.answer
      }
      return reply
    }
    world.run()
    if isInAnotherLaunch {
      #expect(world.scheduler.totals.items.waiting > 0)
      world.serve = serve
      world.run()
      #expect(world.starts.first?.attempt.operation == .queryOffset)
    }
    #expect(parts(world) == (isInAnotherLaunch ? [] : [0, 1, 2, 3]))
    #expect(world.scheduler.totals.items.waiting == 0)
    #expect(world.scheduler.exitCode == .success)
  }

  /// A file that an earlier launch has begun, and for which the budget is too small, does not hold its batch open.
  @Test(arguments: ["cautious", "hard"])
  func lettingAFileAskForItsOffsetDoesNotDelayTheNextBatch(_ cutoff: String) throws {
    var world = try worldOfParts(
      "4500kB, per: month, cutoff: \(cutoff)", validFor: cutoff == "hard" ? "2h" : "30d",
      batch: "batch: { max_items: 1 }")
    world.files = ["up": ["a": 4_000_000, "b": 100_000]]
    let serve = world.serve
    var isBroken = true
    world.serve = { call in
      guard call.path == "a" else { return call.step == .transfer ? .status(200) : serve(call) }
      if isBroken, call.attempt.operation == .queryOffset { return .refused }
      guard case .send(let range) = call.attempt.operation, range.lowerBound == 2_000_000 else {
        return serve(call)
      }
      return .lost
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 0)
    isBroken = false
    world.run()
    #expect(world.starts.first?.attempt.operation == .queryOffset)
    #expect(world.scheduler.totals.items.done == 1 && world.scheduler.totals.items.waiting == 1)
  }

  /// With resume delays, the batch may have counted as complete before the server states that it has the file.
  @Test func commitsAFileThatAQueryCompletesWhileTheBudgetIsUsedUp() throws {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { kind: background } }
      budgets: { any: { limit: 130kB, per: day, cutoff: hard } }
      resume_delay: { policy: before_start, initial: 1s, factor: 1, max: 1s }
      uploads:
        up:
          session: s
          files: { root: . }
          allocate: { request: { method: POST, url: "http://host/up" }, capture: { id: { json: /id } } }
          transfer: { protocol: content_range, chunk_size: 50kB, request: { url: "http://host/${allocate.id}" } }
          commit: { request: { method: PUT, url: "http://host/commit" } }

      """
    var world = try World(yaml, files: ["up": ["a": 100_000, "b": 20_000]]) { call in
      var reply = Reply.status(200)
      switch (call.step, call.attempt.operation) {
      case (.allocate, _): reply.uploadID = call.path == "a" ? 1 : 2
      case (_, .send(let range)):
        if range.upperBound < call.fileSize { reply = .status(308, offset: range.upperBound) }
        if range.lowerBound == 50_000 { reply = .lost }
        reply.sent = call.size
      default: break
      }
      return reply
    }
    world.options.conditions = .init(network: .wired)
    world.run()
    #expect(Set(world.starts.filter { $0.attempt.step == .commit }.map(\.path)) == ["a", "b"])
    #expect(world.scheduler.totals.items.done == 2 && world.scheduler.exitCode == .success)
  }

  /// The server loses all bytes of a file whenever it has 3 MB. The bytes of the first window are lost in the second one.
  @Test func countsTheBytesThatAServerLosesRepeatedly() throws {
    var world = try worldOfParts("5MB, per: hour, cutoff: cautious", validFor: "30d")
    var (stored, losses) = (Int64(0), 0)
    let serve = world.serve
    world.serve = { call in
      guard call.step == .transfer else { return serve(call) }
      if case .send(let range) = call.attempt.operation { stored = range.upperBound }
      if stored >= 3_000_000, losses < 3 { (stored, losses) = (0, losses + 1) }
      // The first window ends during the second request.
      var reply: Reply = stored == 4_000_000 ? .status(200) : .status(308, offset: stored)
      reply.after = .seconds(losses == 0 && stored == 2_000_000 ? 3_600 : 1)
      reply.sent = call.size
      return reply
    }
    world.options.patience = .seconds(20 * 3_600)
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
    for hour in 0..<20 {
      let window = Budget.Window.hour.span(
        containing: world.start.advanced(by: .seconds(Double(hour) * 3_600)), in: .utc)
      #expect(world.machine.ledger.account(.any, window).moved <= 5_000_000, "hour \(hour)")
    }
  }

  /// The bytes that an upload sent in an earlier window do not count in the window in which it starts over.
  @Test func countsOnlyBytesOfTheWindowInWhichAFileIsSentAgain() throws {
    var world = try worldOfParts("4500kB, per: hour, cutoff: cautious", validFor: "90m")
    let serve = world.serve
    var isLost = true
    world.serve = { call in
      var reply = serve(call)
      guard isLost, case .send(let range) = call.attempt.operation, range.lowerBound == 2_000_000 else {
        return reply
      }
      // The server does not respond until the upload ID has expired.
      isLost = false
      reply = .fails(.requestTimeout, reached: true, after: .seconds(2 * 3_600))
      return reply
    }
    world.options.patience = .seconds(10 * 3_600)
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
    #expect(world.now < world.start.advanced(by: .seconds(3 * 3_600)), "it waits for no further window")
  }
}
