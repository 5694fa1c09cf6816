import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Upload IDs, such as presigned URLs, that a server rejects with a status that may have other causes.
@Suite struct `An upload ID that the server refuses` {
  private func yaml(
    _ renewal: String = "", validFor: String = "1h", repeated: String = "already_done: { status: [409] }"
  )
    -> String
  {
    Yaml.ids(validFor: "\(validFor)\n      \(renewal)", alreadyDone: repeated)
  }

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }

  private func refusal(_ status: Int, saysExpired: Bool = false, after: Duration = .milliseconds(10)) -> Reply
  {
    var response = AttemptResult.Response(status: status)
    response.reportsExpiry = saysExpired
    return Reply(answer: .response(response), after: after)
  }

  @Test func `with 403 fails its file, unless renew_on lists the status`() throws {
    for (renewal, expected) in [
      ("", [Step.Kind.allocate, .transfer]),
      ("renew_on: [402, 403]", [.allocate, .transfer, .allocate, .transfer, .commit]),
    ] {
      var world = try World(yaml(renewal), files: Yaml.files(1)) { call in
        call.step == .transfer && call.number == 1 ? self.refusal(403) : .status(200)
      }
      world.run()
      #expect(steps(world) == expected)
      #expect(world.scheduler.totals.items.done == (renewal.isEmpty ? 0 : 1))
      #expect(world.scheduler.totals.idsExpired == (renewal.isEmpty ? 0 : 1))
    }
  }

  @Test func `is renewed if its time has passed, or if the response says that it has expired`() throws {
    for reply in [
      refusal(403, after: .seconds(11)), refusal(403, saysExpired: true), refusal(400, saysExpired: true),
    ] {
      var world = try World(yaml(validFor: "10s"), files: Yaml.files(1)) { call in
        call.step == .transfer && call.number == 1 ? reply : .status(200)
      }
      world.run()
      #expect(steps(world) == [.allocate, .transfer, .allocate, .transfer, .commit])
      #expect(world.scheduler.exitCode == .success)
    }
    // A 400 does not show that the ID has expired, and neither does a 403 before the expiry.
    for reply in [refusal(400, after: .seconds(11)), refusal(403, after: .seconds(9))] {
      var world = try World(yaml(validFor: "10s"), files: Yaml.files(1)) { call in
        call.step == .transfer && call.number == 1 ? reply : .status(200)
      }
      world.run()
      #expect(steps(world) == [.allocate, .transfer])
      #expect(world.scheduler.exitCode == .itemsFailed)
    }
  }

  @Test func `is renewed at most as often as a request is retried, and then the file fails`() throws {
    var world = try World(yaml("renew_on: [403]"), files: Yaml.files(1)) { call in
      call.step == .transfer ? self.refusal(403) : .status(200)
    }
    world.run()
    // The default limit is five retries.
    #expect(steps(world).count { $0 == .allocate } == 6)
    #expect(world.scheduler.totals.items.failed == 1)
    #expect(world.scheduler.isRoundThrough)
    #expect(world.scheduler.exitCode == .itemsFailed)
  }

  @Test func `for a commit that may have been executed leaves the file ambiguous`() throws {
    var world = try World(yaml("renew_on: [403]"), files: Yaml.files(1)) { call in
      guard call.step == .commit else { return .status(200) }
      return call.number == 1 ? .status(500) : self.refusal(403)
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .commit])
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func `for a commit that was not executed starts the file over, and it is committed once`() throws {
    var world = try World(yaml("renew_on: [403]"), files: Yaml.files(1)) { call in
      call.step == .commit && call.number == 1 ? self.refusal(403) : .status(200)
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .allocate, .transfer, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func `is an orphan that is released, because the server may still know it`() throws {
    let serve = ReleaseTests.server { call in
      call.step == .transfer && call.number == 1 ? self.refusal(403) : nil
    }
    var world = try World(
      Yaml.ids(ReleaseTests.abandon, validFor: "1h\n      renew_on: [403]"), files: Yaml.files(1),
      serve: serve)
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .allocate, .transfer, .commit, .abandon])
    #expect(world.scheduler.totals.idsReleased == 1)
    #expect(world.scheduler.totals.items.done == 1)
  }
}
