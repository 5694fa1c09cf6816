import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Responses for which ferry cannot determine whether they match `expect`, because the search for the pattern was
/// aborted.
@Suite struct UndecidedResponseTests {
  private static var undecided: Reply {
    var response = AttemptResult.Response(status: 200, mismatch: "too many steps", isUnreadable: true)
    response.isUndecided = true
    return Reply(answer: .response(response), after: .milliseconds(10))
  }

  @Test(arguments: ["already_done: { status: [409] }", "idempotency_key: { header: Key }", ""])
  func aCommitIsAmbiguous(_ recognized: String) throws {
    var world = try World(Yaml.ids(alreadyDone: recognized), files: Yaml.files(1)) {
      $0.step == .commit ? Self.undecided : .status(200)
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.itemRecords.first?.reason?.code == "answer_lost")
  }

  @Test func aProbeIsInconclusive() throws {
    let probe = "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }"
    var world = try World(Yaml.ids(alreadyDone: probe), files: Yaml.files(1)) { call in
      switch call.step {
      case .commit: .lost
      case .probe: call.number == 1 ? Self.undecided : .status(200)
      case .token, .allocate, .transfer, .fetch, .request, .abandon, .download: .status(200)
      }
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.allocate, .transfer, .commit, .probe, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func aRequestThatIsNotSentAgainIsAmbiguous() throws {
    let request = "requests: { n: { session: s, request: { method: POST, url: \"http://host/r\" } } }\n"
    var world = try World(Yaml.head + request) { _ in Self.undecided }
    world.run()
    #expect(world.scheduler.nodeRecords.map(\.state) == [.ambiguous])
  }

  @Test func aRepeatableRequestFails() throws {
    var world = try World(Yaml.put(), files: Yaml.files(1)) { _ in Self.undecided }
    world.run()
    #expect(world.scheduler.itemRecords.first?.reason?.code == "unexpected_answer")
    #expect(world.starts.count == 1)
  }
}
