import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Redirects that are not followed, redirects whose target is unreachable, and undefined statuses.
struct RedirectTests {
  static let keys = [
    "", "probe", "already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }",
  ]

  private static let abandon = """
        abandon: { request: { method: DELETE, url: "http://host/ids/${allocate.id}" } }

    """

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }

  private func commit(_ key: String) -> String {
    Yaml.ids(
      Self.abandon,
      alreadyDone: key == "probe" ? "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }" : key)
  }

  /// If a commit may have been executed, ferry does not send it again and does not release its ID.
  @Test(arguments: ["", keys[2], keys[3]], [300, 301, 302, 303, 304, 305, 306, 307, 308, 399])
  func aCommitThatIsRedirectedIsAmbiguousAndItsIDStays(key: String, status: Int) throws {
    var world = try World(
      commit(key), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .status(status) : nil })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(world.scheduler.totals.idsOrphaned == 0)
    world.round = 2
    world.run()
    #expect(world.starts.isEmpty)
  }

  @Test(arguments: [303, 307, 600, 999])
  func aCommitWithAProbeIsProbed(status: Int) throws {
    var world = try World(
      commit("probe"), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .status(status) : nil })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [300, 303, 304, 307])
  func aProbeRedirectedToAnUnreachableTargetIsInconclusive(status: Int) throws {
    var world = try World(
      commit("probe"), files: Yaml.files(1),
      serve: ReleaseTests.server {
        switch $0.step {
        case .commit: .lost
        case .probe: .status(status)
        case .token, .allocate, .transfer, .fetch, .request, .download, .abandon: nil
        }
      })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe])
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test(arguments: [600, 799, 999])
  func aStatusThatDoesNotExistCountsAsAServerError(status: Int) throws {
    var once = try World(
      commit(""), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .status(status) : nil })
    once.run()
    #expect(once.scheduler.totals.items.ambiguous == 1)
    var again = try World(Yaml.put(), files: Yaml.files(1)) { .status($0.number == 1 ? status : 200) }
    again.run()
    #expect(again.starts.count == 2)
    #expect(again.scheduler.totals.items.done == 1)
  }

  /// The commit of a WebDAV server, to which 207 reports failures.
  private static func move(_ key: String) -> String {
    Yaml.ids(alreadyDone: key).replacing(
      "request: { method: POST, url: \"http://host/ids/${allocate.id}/commit\" }",
      with:
        "request: { method: MOVE, url: \"http://host/ids/${allocate.id}\", headers: { Destination: \"http://host/f\" } }"
    )
  }

  @Test func aMoveThatPartlyFailedIsAmbiguous() throws {
    var world = try World(
      Self.move(""), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .status(207) : nil })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(
      world.scheduler.itemRecords.first?.reason?.message.contains("expect: { status: [207] }") == true)
  }

  @Test func aMoveThatPartlyFailedIsProbed() throws {
    var world = try World(
      Self.move("probe: { request: { url: \"http://host/ids/${allocate.id}\" } }"), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .status(207) : nil })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func aMultiStatusIsASuccessIfItIsListedOrTheMethodIsNotOfWebDAV() throws {
    for yaml in [Self.move("expect: { status: [207] }"), Yaml.ids(alreadyDone: "")] {
      var world = try World(
        yaml, files: Yaml.files(1),
        serve: ReleaseTests.server { $0.step == .commit ? .status(207) : nil })
      world.run()
      #expect(world.scheduler.totals.items.done == 1)
    }
  }

  @Test func aReleaseThatPartlyFailedIsNotComplete() throws {
    var world = try World(
      Yaml.ids(Self.abandon, alreadyDone: ""), files: Yaml.files(1),
      serve: ReleaseTests.server {
        switch $0.step {
        case .commit: .status(403)
        case .abandon: .status(207)
        case .token, .allocate, .transfer, .probe, .fetch, .request, .download: nil
        }
      })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .abandon])
    #expect(world.scheduler.totals.idsReleased == 0)
  }

  @Test(arguments: [302, 303]) func aPostIsAmbiguousAndNotSentAgain(status: Int) throws {
    var world = try World(Yaml.post(), files: Yaml.files(1)) { _ in .status(status) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(
      world.scheduler.itemRecords.first?.reason?.message.contains("expect: { status: [\(status)] }") == true)
  }

  @Test(arguments: [302, 303]) func aListedStatusIsASuccess(status: Int) throws {
    let yaml = Yaml.post().replacing(
      "protocol: post,", with: "protocol: post, expect: { status: [\(status)] },")
    var world = try World(yaml, files: Yaml.files(1)) { _ in .status(status) }
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test(arguments: [300, 303, 307]) func aPutFailsWithAnExplanation(status: Int) throws {
    var world = try World(Yaml.put(), files: Yaml.files(1)) { _ in .status(status) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.failed == 1)
    let reason = world.scheduler.itemRecords.first?.reason
    #expect(reason?.code == "http_status" && reason?.status == status)
    #expect((reason?.message.count ?? 0) > "the server responded with 303 to PUT".count)
  }

  /// With 307 or 308, the redirecting server may have acted, although the target did not receive the request.
  @Test(arguments: [TransportFailure.Code.connect, .nameResolution, .handshake, .certificate])
  func anUnreachableTargetLeavesACommitOpen(code: TransportFailure.Code) throws {
    var world = try World(
      commit(""), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .fails(code, reached: true) : nil })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
    var probed = try World(
      commit("probe"), files: Yaml.files(1),
      serve: ReleaseTests.server { $0.step == .commit ? .fails(code, reached: true) : nil })
    probed.run()
    #expect(steps(probed) == [.allocate, .transfer, .commit, .probe])
  }

  @Test func anUnreachableTargetDoesNotBlockOtherRequestsToTheHost() throws {
    var world = try World(Yaml.put(), files: Yaml.files(4)) { call in
      call.path == "f00" && call.number == 1 ? .fails(.connect, reached: true) : .status(200)
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 4)
    let others = world.starts.filter { $0.path != "f00" }
    #expect(others.allSatisfy { $0.at < world.start.advanced(by: .seconds(1)) })
  }

  /// If ferry withheld the token from another origin, a rejection there does not show that the token is invalid.
  @Test func aTokenThatWasNotSentIsNotRefreshed() throws {
    var world = try World(Yaml.put("    token: login\n", head: Yaml.head + Yaml.token), files: Yaml.files(1))
    {
      guard $0.step == .transfer else { return .status(200) }
      var response = AttemptResult.Response(status: 401)
      response.withheld = "ferry did not send token.access"
      return Reply(answer: .response(response), after: .milliseconds(9))
    }
    world.run()
    #expect(steps(world) == [.token, .transfer])
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.itemRecords.first?.reason?.message.contains("did not send token.access") == true)
  }
}
