import FerryManifest
import FerrySimulation
import Testing

@testable import FerryPlan

/// A repeatable commit that may have been executed. Only a success resolves the doubt.
struct LostCommitTests {
  static let keys = [
    "already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }",
  ]

  private func world(_ key: String, serve: @escaping (Call) -> Reply) throws -> World {
    try World(Yaml.ids(alreadyDone: key), files: Yaml.files(1), serve: serve)
  }

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }

  /// The server may have executed the commit, but then responds that it does not know the upload or rejects the commit.
  @Test(arguments: keys, [404, 410, 403, 400])
  func aRefusalAfterALostResponseIsAmbiguous(key: String, status: Int) throws {
    var world = try world(key) { call in
      guard call.step == .commit else { return .status(200) }
      return call.number == 1 ? .lost : .status(status)
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test(arguments: keys, [404, 403])
  func aRefusalOfTheFirstAttemptIsNotAmbiguous(key: String, status: Int) throws {
    var world = try world(key) { call in
      .status(call.step == .commit && call.number == 1 ? status : 200)
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 0)
    #expect(steps(world).count { $0 == .allocate } == (status == 404 ? 2 : 1))
  }

  @Test(arguments: keys, [500, 502, 504, 524])
  func aServerThatFailsMayHaveExecutedTheCommit(key: String, status: Int) throws {
    var world = try world(key) { call in
      guard call.step == .commit else { return .status(200) }
      return .status(call.number == 1 ? status : 403)
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test(arguments: keys)
  func aRetryAfterInBetweenDoesNotResolveTheDoubt(key: String) throws {
    var world = try world(key) { call in
      guard call.step == .commit else { return .status(200) }
      return call.number == 1 ? .lost : .status(call.number == 2 ? 503 : 404)
    }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  /// The commit's intent is on disk before the commit is sent, and is kept until its outcome is known.
  @Test(arguments: keys)
  func anIntentIsKeptUntilTheOutcomeIsKnown(key: String) throws {
    var world = try world(key) { $0.step == .commit ? .lost : .status(200) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.journal.items[0]?.values.map(\.known.intent) == [.commit])
  }

  /// If an edit of the manifest gives the commit a key that the first attempt did not carry, the server cannot use the
  /// key to recognize a repetition.
  @Test(arguments: [
    ("already_done: { status: [409] }", "idempotency_key: { header: Key }", false),
    ("idempotency_key: { header: Key }", "idempotency_key: { header: X-Key }", false),
    ("idempotency_key: { header: Key }", "idempotency_key: { header: KEY }", true),
    ("idempotency_key: { header: Key }", "already_done: { status: [409] }", true),
    (
      "already_done: { status: [409] }",
      "already_done: { status: [409] }\n      idempotency_key: { header: Key }", true
    ),
  ])
  func onlyTheKeyThatItCarriedIdentifiesARepetition(before: String, after: String, isSent: Bool) throws {
    var world = try world(before) { $0.step == .commit ? .lost : .status(200) }
    world.run()
    var edited = try self.world(after) { _ in .status(200) }
    edited.machine.journal = world.machine.journal
    edited.run()
    #expect(steps(edited) == (isSent ? [.commit] : []))
    let items = edited.scheduler.totals.items
    #expect((items.done, items.ambiguous) == (isSent ? 1 : 0, isSent ? 0 : 1))
    let message = edited.scheduler.metrics.notes.last?.failure?.message ?? ""
    #expect(isSent || message.contains("the server would not recognize a repeated commit"), "\(message)")
  }

  /// After `ferry resolve … retry`, whether the commit is sent again depends on the key that it carried.
  @Test(arguments: [
    ("idempotency_key: { header: Key }", "Key", false), ("idempotency_key: { header: KEY }", "Key", false),
    ("idempotency_key: { header: X-Key }", "Key", true), ("", "Key", true), ("", nil, false),
    ("already_done: { status: [409] }", "Key", false), ("idempotency_key: { header: Key }", nil, false),
    (
      "probe: { request: { url: \"http://host/p\" } }\n      idempotency_key: { header: X-Key }", "Key", false
    ),
  ])
  func aDecisionToSendACommitAgainHoldsForTheKeyThatItCarried(now: String, sent: String?, isAmbiguous: Bool)
    throws
  {
    let plan = try Plan(yaml: Yaml.ids(alreadyDone: now))
    guard case .upload(let work) = plan.nodes[0].work else { throw CancellationError() }
    let begun = ItemTable.Begun(
      state: .transferred, intent: .commitAgain, commitKey: sent.map { CommitKey(header: $0, value: "v") })
    let rules = ItemRules(work, recorded: nil)
    #expect((rules.progress(resuming: begun, size: 1).intent == .inherited) == isAmbiguous)
    #expect(
      rules.keyConflict(resuming: begun)?.contains("was sent with its key in 'Key'")
        == (isAmbiguous ? true : nil))
  }

  /// The file has changed when the next launch finds it. The launch first resolves the old commit.
  @Test(arguments: keys)
  func aFileThatChangesMeanwhileIsCommittedAsSent(key: String) throws {
    var isBack = false
    var world = try world(key) { call in
      call.step == .commit && !isBack ? .lost : .status(200)
    }
    world.run()
    isBack = true
    world.files = world.files.mapValues { $0.mapValues { $0 + 1 } }
    world.runRound(launches: 1)
    #expect(steps(world) == [.commit])
    #expect(world.scheduler.totals.items.done == 1)
  }
}
