import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Steps that must not be repeated.
struct IntentTests {
  @Test func anUnrepeatableStepStartsAfterItsIntentIsOnDisk() throws {
    var world = try World(Yaml.post(), files: Yaml.files(20)) { _ in .status(200, after: .seconds(1)) }
    world.run()
    // `World` checks the intent of every request that starts.
    #expect(world.scheduler.totals.items.done == 20)
    #expect((1...4).contains(world.mostIntents))
    #expect(world.mostInFlight == 2)
  }

  @Test func aCompletedBatchDoesNotRecordIntentsForAllItsCommitsAtOnce() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 2 } }
      resume_delay: { policy: before_start, initial: 1s, factor: 2, max: 6h }

      """
    var world = try World(Yaml.ids(head: head), files: Yaml.files(99)) { call in
      var reply = Reply.status(200, after: .milliseconds(call.step == .commit ? 500 : 1))
      reply.uploadID = call.step == .allocate ? 1 : nil
      return reply
    }
    world.options.launch = .background
    world.options.patience = .seconds(86_400)
    world.run()
    #expect(world.scheduler.totals.items.done == 99)
    // After a kill, each commit whose intent is recorded may have been executed, so there must not be many.
    #expect((2...66).contains(world.mostIntents))
  }

  @Test func aLostResponseIsAmbiguousAndNeverSentAgain() throws {
    var world = try World(Yaml.post(), files: Yaml.files(3)) { $0.path == "f01" ? .lost : .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.exitCode == .itemsFailed)
    world.round = 2
    world.run()
    #expect(world.starts.isEmpty)
  }

  /// If the item failed, the next round would send the file again.
  @Test(arguments: [Reply.status(422), .refused, .status(503)])
  func aTransferIsNotRepeatedBecauseItsCommitFails(reply: Reply) throws {
    let yaml = Yaml.post(
      "    commit: { request: { method: POST, url: \"http://host/commit/${file.path}\" } }\n")
    var world = try World(yaml, files: Yaml.files(1)) { $0.step == .commit ? reply : .status(200) }
    for launch in 1...6 {
      world.round = world.scheduler.isRoundThrough ? world.round + 1 : world.round
      world.run()
      #expect(world.starts.count { $0.attempt.step == .transfer } == (launch == 1 ? 1 : 0))
      world.now = world.now.advanced(by: .seconds(3 * 86_400))
    }
    #expect(world.scheduler.totals.items.failed == 0)
  }

  @Test(arguments: [500, 502, 504, 524])
  func aServerErrorMakesTheRequestAmbiguous(status: Int) throws {
    var world = try World(Yaml.post(), files: Yaml.files(1)) { _ in .status(status) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func aRequestWhoseResponseLacksItsCaptureIsNotSentAgain() throws {
    let missing = TransportFailure(.capture, "no /id in the answer", mayHaveReachedServer: true)
    var world = try World(Yaml.post(), files: Yaml.files(1)) { _ in
      Reply(answer: .response(.init(status: 201, missing: missing)), after: .milliseconds(9))
    }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  /// Although the item's next step goes to another server, the next launch first puts the item into the host queue of
  /// its first step.
  @Test(arguments: ["http://other", "${token.base}"], [Reply.status(425), .refused])
  func aDeferredCommitToAnotherServerIsSentByTheNextLaunch(base: String, reply: Reply) throws {
    var world = try commitElsewhere(base) { $0.step == .commit ? reply : .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.serve = { _ in .status(200) }
    world.files["up"]?["f01"] = 10
    world.run()
    let token: [Step.Kind] = base.hasPrefix("$") ? [.token] : []
    #expect(Set(world.starts.map(\.attempt.step)) == Set(token + [.commit, .allocate, .transfer]))
    #expect(world.scheduler.totals.items.done == 2)
  }

  @Test(arguments: ["http://other", "${token.base}"])
  func aCommitToAnotherServerThatMayHaveBeenExecutedIsAmbiguous(base: String) throws {
    var world = try commitElsewhere(base) { _ in .status(200, after: .seconds(1)) }
    var undisturbed = world
    undisturbed.run()
    let commit = try #require(
      undisturbed.actions.firstIndex {
        if case .start(let attempt) = $0 { attempt.step == .commit } else { false }
      })
    world.die(afterActions: commit + 1)
    world.run()
    #expect(world.isDead && world.journal.items.values.first?.values.map(\.known.intent) == [.commit])
    world.die(afterActions: nil)
    world.run()
    #expect(world.hasEnded && world.starts.isEmpty)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  private func commitElsewhere(_ base: String, serve: @escaping (Call) -> Reply) throws -> World {
    let isCaptured = base.hasPrefix("$")
    let token = Yaml.token.replacing("capture: {", with: "capture: { base: { json: /base },")
    let yaml = Yaml.ids(
      (isCaptured ? "    token: login\n" : "") + "    retry: { limit: 0 }\n",
      head: Yaml.head + (isCaptured ? token : ""), alreadyDone: "")
    return try World(
      yaml.replacing("http://host/ids/${allocate.id}/commit", with: "\(base)/${allocate.id}/commit"),
      files: Yaml.files(1)
    ) { call in
      var reply = serve(call)
      reply.uploadID = call.step == .allocate ? call.number : nil
      return reply
    }
  }

  /// If the launch is killed before the retry, the next one knows that nothing was sent.
  @Test func theIntentOfAFailedConnectionIsWithdrawnUntilTheRetry() throws {
    var world = try World(Yaml.post(), files: Yaml.files(1)) { $0.number == 1 ? .refused : .status(200) }
    world.run()
    #expect(world.starts.count == 2)
    #expect(world.intentEntries == [.recorded, .withdrawn, .recorded])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [401, 408, 425, 429, 501, 505, 511])
  func aRejectionUsesUpTheIntentAndTheNextAttemptHasItsOwn(status: Int) throws {
    let yaml = Yaml.post("    token: login\n", head: Yaml.head + Yaml.token)
    var world = try World(yaml, files: Yaml.files(1)) { call in
      .status(call.step == .transfer && call.number == 1 ? status : 200)
    }
    world.run()
    let intents = world.entries.count { if case .intentRecorded = $0 { true } else { false } }
    #expect(intents == 2)
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// A gateway also sends 503 if the server was disconnected while it executed the request.
  @Test(arguments: [(false, 1), (true, 2)])
  func a503ShowsThatNothingWasExecutedOnlyIfTheManifestSaysSo(isListed: Bool, requests: Int) throws {
    let retry = "    retry: { limit: 3\(isListed ? ", not_executed: [503]" : "") }\n"
    var world = try World(Yaml.post(retry), files: Yaml.files(1)) { .status($0.number == 1 ? 503 : 200) }
    world.run()
    #expect(world.starts.count == requests)
    #expect(world.scheduler.totals.items.done == (isListed ? 1 : 0))
    #expect(world.scheduler.totals.items.ambiguous == (isListed ? 0 : 1))
  }

  /// Each pause is followed by one request.
  @Test(arguments: [nil, .seconds(60)] as [Duration?])
  func anOverloadedServerDoesNotMakeEveryItemAmbiguous(retryAfter: Duration?) throws {
    var world = try World(Yaml.post("    retry: { limit: 2 }\n"), files: Yaml.files(100)) { _ in
      .status(503, retryAfter: retryAfter)
    }
    world.run()
    let counts = world.scheduler.totals.items
    let connections = world.scheduler.plan.sessions[0].maxConnectionsPerHost
    #expect(counts.ambiguous <= connections + 2 && counts.waiting == 100 - counts.ambiguous, "\(counts)")
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func anItemThatTheServerAlwaysRejectedIsRetriedInTheNextLaunch() throws {
    var world = try World(Yaml.post(), files: Yaml.files(2)) { _ in .status(425) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 2)
    world.serve = { _ in .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    #expect(world.scheduler.totals.items.ambiguous == 0)
  }

  /// If the launch is killed during the pause, the items are not ambiguous.
  @Test(arguments: [Reply.refused, .status(429)])
  func noIntentsAreRecordedInAdvanceWhileAHostIsPaused(reply: Reply) throws {
    var world = try World(
      Yaml.post("    retry: { limit: 9, initial: 1h, max: 1h }\n"), files: Yaml.files(40)
    ) { _ in reply }
    world.launch()
    while world.starts.isEmpty || world.now == world.start, world.step() {}
    // The pause after the first test of the host.
    while world.now < world.start.advanced(by: .seconds(5_400)), world.step() {}
    #expect(world.intentEntries.count { $0 == .recorded } > 0)
    // Only the next test of the host may have been sent.
    let intents = world.journal.items.values.reduce(0) { $0 + $1.values.count { $0.known.intent != nil } }
    #expect(intents <= 1)
  }

  /// If the launch is killed while it waits for another network or for power, the items are not ambiguous.
  @Test(
    arguments: [
      ("allows_cellular: false", DeviceConditions(network: .cellular)),
      ("discretionary: true", DeviceConditions(power: .battery)),
    ])
  func noIntentsAreRecordedInAdvanceWhileConditionsHoldRequests(
    session: String, conditions: DeviceConditions
  ) throws {
    let head = Yaml.head.replacing("{ max_connections_per_host: 2 }", with: "{ \(session) }")
    var world = try World(Yaml.post(head: head), files: Yaml.files(40)) { _ in
      .status(200, after: .seconds(1))
    }
    world.options.launch = .background
    world.options.patience = .seconds(3_600)
    world.options.conditions = .init(network: .wifi, power: .external)
    world.machine.schedule(.conditions(conditions), at: world.start.advanced(by: .milliseconds(1_500)))
    world.launch()
    // The launch continues to wait.
    var intents = 0
    while world.now < world.start.advanced(by: .seconds(10)) {
      intents = world.journal.items.values.reduce(0) { $0 + $1.values.count { $0.known.intent != nil } }
      guard world.step() else { break }
    }
    #expect(world.intentEntries.count { $0 == .recorded } > 8)
    #expect(intents == 0)
  }

  /// The server rejects the token, and does not respond to the request for another one.
  @Test func noIntentRemainsWhileARequestWaitsForAToken() throws {
    let yaml = Yaml.post("    token: login\n", head: Yaml.head + Yaml.token)
    var tokens = 0
    var world = try World(yaml, files: Yaml.files(6)) { call in
      guard call.step == .token else { return .status(401) }
      tokens += 1
      return .status(200, after: tokens == 1 ? .milliseconds(10) : .seconds(50))
    }
    world.launch()
    // The state before the response to the second request for a token.
    var intents = 0
    while world.now < world.start.advanced(by: .seconds(1)) {
      intents = world.journal.items.values.reduce(0) { $0 + $1.values.count { $0.known.intent != nil } }
      guard world.step() else { break }
    }
    #expect(tokens == 2 && intents == 0, "\(tokens) tokens, \(intents) intents")
  }

  /// The disk is slower than the pause.
  @Test func aTransferWaitsForItsUploadIDAlsoIfItsHostIsPaused() throws {
    let yaml =
      """
      version: 1
      name: test
      sessions: { s: { max_connections_per_host: 3 } }
      uploads:
        up:
          session: s
          files: { root: . }
          retry: { limit: 5, initial: 1s }
          allocate: { request: { method: POST, url: "http://host/ids" }, capture: { id: { json: /id } } }
          transfer: { request: { url: "http://host/ids/${allocate.id}" } }

      """
    var allocations = 0
    var world = try World(yaml, files: Yaml.files(3)) { call in
      guard call.step == .allocate else { return .status(200) }
      allocations += 1
      guard allocations < 3 else { return .status(allocations == 3 ? 429 : 200, after: .seconds(1)) }
      var reply = Reply.status(200)
      reply.uploadID = allocations
      return reply
    }
    world.machine.syncDuration = .seconds(30)
    world.launch()
    var isSent = false
    while !isSent, world.step() { isSent = world.starts.contains { $0.attempt.step == .transfer } }
    #expect(isSent && world.now >= world.start.advanced(by: .seconds(30)), "\(world.now)")
  }

  @Test func unusedIntentsAreWithdrawnAtAStop() throws {
    var world = try World(Yaml.post(), files: Yaml.files(10)) { _ in .status(200, after: .seconds(3)) }
    world.signals = [(world.start.advanced(by: .seconds(1)), .terminate)]
    world.run()
    let withdrawn = world.entries.count { if case .intentWithdrawn = $0 { true } else { false } }
    #expect(withdrawn > 0)
    #expect(world.starts.count == 2)
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 0)
    #expect(world.scheduler.totals.items.done == 10)
  }

  @Test func anIntentOfALaunchThatDiedIsAmbiguous() throws {
    var world = try World(Yaml.post(), files: Yaml.files(2)) { _ in .status(200) }
    // The first action records the files and both intents. The second one starts a request.
    world.die(afterActions: 2)
    world.run()
    world.die(afterActions: nil)
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 2)
    #expect(world.starts.isEmpty)
  }

  @Test func anUnrepeatableRequestOfALaunchThatDiedIsAmbiguous() throws {
    let yaml =
      Yaml.head + """
        requests:
          note: { session: s, request: { method: POST, url: "http://host/note" } }

        """
    var world = try World(yaml) { _ in .status(200) }
    world.die(afterActions: 2)
    world.run()
    #expect(world.starts.count == 1)
    world.die(afterActions: nil)
    world.run()
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.scheduler.nodeRecords.map(\.state) == [.ambiguous])
  }

  @Test(arguments: ["a failed need", "a cancellation"])
  func aRequestThatMayHaveBeenSentIsNotSkipped(because reason: String) throws {
    let more = """
      requests:
        note: { session: s, needs: [up], request: { method: POST, url: "http://host/note" } }

      """
    var world = try World(Yaml.put(more), files: Yaml.files(1)) { _ in .status(400, after: .seconds(5)) }
    world.machine.startOverrides["note"] = .intended
    if reason == "a cancellation" {
      world.machine.schedule(
        .cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    }
    world.run()
    #expect(!world.starts.contains { $0.attempt.step == .request })
    #expect(world.scheduler.nodeRecords.last?.state == .ambiguous)
    #expect(world.scheduler.nodeRecords.last?.reason?.code == "answer_lost")
  }
}
