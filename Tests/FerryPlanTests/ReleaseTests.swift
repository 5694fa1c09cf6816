import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Releases of upload IDs that ferry will not use.
@Suite struct ReleaseTests {
  static let abandon = """
        abandon: { request: { method: DELETE, url: "http://host/ids/${allocate.id}" } }

    """

  /// A server that issues IDs from 1 and responds with 200, unless `answer` returns another reply.
  static func server(_ answer: @escaping (Call) -> Reply? = { _ in nil }) -> (Call) -> Reply {
    var given = 0
    return { call in
      var reply = answer(call) ?? .status(200)
      if call.step == .allocate {
        given += 1
        reply.uploadID = given
      }
      return reply
    }
  }

  private func world(
    _ more: String = abandon, files: Int = 1, validFor: String = "1h", method: String = "PUT",
    alreadyDone: String = "already_done: { status: [409] }", _ answer: @escaping (Call) -> Reply?
  ) throws -> World {
    try World(
      Yaml.ids(more, validFor: validFor, method: method, alreadyDone: alreadyDone),
      files: Yaml.files(files), serve: Self.server(answer))
  }

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }
  private func orphans(_ world: World) -> [VirtualJournal.Orphan] {
    world.machine.journal.orphans.values.flatMap(\.self)
  }

  @Test func theIDOfAFailedItemIsReleasedOnceNothingElseCanProceed() throws {
    var released: [Int?] = []
    var world = try world(files: 6) { call in
      if call.step == .abandon { released.append(call.uploadID) }
      return call.step == .transfer && call.path == "f00" ? .status(403) : nil
    }
    world.run()
    #expect(steps(world).last == .abandon && steps(world).count { $0 == .abandon } == 1)
    #expect(released == [1])
    #expect(world.scheduler.totals.idsOrphaned == 1 && world.scheduler.totals.idsReleased == 1)
    #expect(world.scheduler.totals.items.done == 5 && world.scheduler.exitCode == .itemsFailed)
    #expect(orphans(world).isEmpty)
    let record = world.scheduler.nodeRecords[0].orphans
    #expect(record?.dropped == 1 && record?.released == 1 && record?.failed == 0)
  }

  @Test func withoutAnAbandonRequestIDsAreOnlyListed() throws {
    var world = try world("") { $0.step == .transfer ? .status(403) : nil }
    world.run()
    #expect(steps(world) == [.allocate, .transfer])
    #expect(orphans(world).map(\.uploadID) == [1])
    #expect(orphans(world).first?.orphaning == Orphaning(.failed, isInDoubt: false))
    world.run()
    #expect(world.starts.isEmpty && orphans(world).count == 1)
  }

  @Test func anExpiredIDIsReleasedAndItsFileIsSentUnderAnother() throws {
    var world = try world("    retry: { initial: 12s, jitter: 0 }\n" + Self.abandon, validFor: "10s") {
      $0.step == .transfer && $0.number == 1 ? .status(500) : nil
    }
    world.run()
    #expect(world.entries.contains { $0.orphaning?.reason == .expired })
    #expect(world.scheduler.totals.items.done == 1 && world.scheduler.totals.idsReleased == 1)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func theIDOfAnInterruptedTransferIsReleased() throws {
    var world = try world(method: "PATCH") { $0.step == .transfer && $0.number == 1 ? .lost : nil }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .allocate, .transfer, .commit, .abandon])
    #expect(world.entries.contains { $0.orphaning?.reason == .startedOver })
  }

  @Test(arguments: [404, 410])
  func anIDThatTheServerDoesNotKnowIsNotAnOrphan(status: Int) throws {
    var world = try world { $0.step == .transfer && $0.number == 1 ? .status(status) : nil }
    world.run()
    #expect(!steps(world).contains(.abandon))
    #expect(world.scheduler.totals.idsOrphaned == 0)
  }

  // MARK: What may have been executed

  @Test(arguments: [Reply.lost, .status(500), .status(503)])
  func anIDWhoseCommitMayHaveBeenExecutedIsNeverReleased(first: Reply) throws {
    var world = try world { call in
      guard call.step == .commit else { return nil }
      return call.number == 1 ? first : .status(403)
    }
    world.run()
    #expect(!steps(world).contains(.abandon))
    if world.scheduler.totals.items.ambiguous == 1 {
      #expect(orphans(world).isEmpty)
    } else {
      // The response of an overloaded server does not prove that nothing was executed.
      #expect(orphans(world).first?.orphaning == Orphaning(.failed, isInDoubt: true))
    }
    world.run()
    #expect(!steps(world).contains(.abandon))
  }

  @Test func anIDWhoseCommitWasRejectedIsReleased() throws {
    var world = try world { $0.step == .commit ? .status(403) : nil }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .abandon])
  }

  @Test func anAmbiguousItemKeepsItsID() throws {
    var world = try world(alreadyDone: "") { $0.step == .commit ? .lost : nil }
    world.run()
    #expect(world.scheduler.totals.items.ambiguous == 1)
    #expect(!steps(world).contains(.abandon) && world.scheduler.totals.idsOrphaned == 0)
  }

  @Test func aNegativeProbeReleasesTheID() throws {
    let probe = "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }"
    var world = try world(alreadyDone: probe) { call in
      switch call.step {
      case .probe: .status(404)
      case .commit: call.number == 1 ? .lost : .status(403)
      case .token, .allocate, .transfer, .fetch, .request, .download, .abandon: nil
      }
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .commit, .probe, .commit, .abandon])
  }

  @Test func withoutACommitATransferThatMayHaveArrivedCounts() throws {
    let lines = Yaml.ids(Self.abandon).split(separator: "\n")
    let commit = try #require(lines.firstIndex { $0.hasSuffix("commit:") })
    let text = (lines[..<commit] + lines[(commit + 3)...]).joined(separator: "\n")
    var world = try World(
      text, files: Yaml.files(1),
      serve: Self.server { call in
        guard call.step == .transfer else { return nil }
        return call.number == 1 ? .lost : .status(403)
      })
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .transfer])
    #expect(orphans(world).first?.orphaning.isInDoubt == true)
  }

  @Test(arguments: [true, false])
  func anIDOfALaunchThatDiedIsInDoubtOnlyWhereItsCommitMayHaveBeenSent(isReleased: Bool) throws {
    var world = try world(isReleased ? Self.abandon : "") { _ in nil }
    // The launch runs until it has queued the files, allocated an ID, recorded the captures, and started the transfer.
    while !steps(world).contains(.transfer) {
      if world.starts.isEmpty { world.launch() }
      _ = world.step()
    }
    world.serve = Self.server { $0.step == .transfer ? .status(403) : nil }
    world.run()
    #expect(steps(world) == (isReleased ? [.transfer, .abandon] : [.transfer]))
    #expect(orphans(world).map(\.orphaning.isInDoubt) == (isReleased ? [] : [false]))
  }

  // MARK: The release

  @Test(arguments: [404, 410, 204])
  func anIDThatTheServerDoesNotKnowCountsAsReleased(status: Int) throws {
    var world = try world { call in
      switch call.step {
      case .transfer: .status(403)
      case .abandon: .status(status)
      case .token, .allocate, .commit, .probe, .fetch, .request, .download: nil
      }
    }
    world.run()
    #expect(world.scheduler.totals.idsReleased == 1 && orphans(world).isEmpty)
  }

  @Test(arguments: [403, 500])
  func aFailedReleaseChangesNoOutcomeAndIsRetriedByTheNextLaunch(status: Int) throws {
    let retry = "    retry: { initial: 12s, jitter: 0, limit: 2 }\n"
    var world = try world(retry + Self.abandon, validFor: "10s") { call in
      if call.step == .abandon { return .status(status) }
      return call.step == .transfer && call.number == 1 ? .status(500) : nil
    }
    world.run()
    #expect(world.scheduler.exitCode == .success && world.scheduler.isRoundThrough)
    #expect(steps(world).count { $0 == .abandon } == (status == 403 ? 1 : 3))
    #expect(orphans(world).map(\.uploadID) == [1])
    #expect(world.scheduler.nodeRecords[0].orphans?.reason?.status == status)
    #expect(world.entries.contains { if case .orphanReleaseFailed = $0 { true } else { false } })
    world.serve = Self.server()
    world.run()
    #expect(steps(world) == [.abandon])
    #expect(orphans(world).isEmpty && world.scheduler.totals.idsReleased == 1)
  }

  @Test func anUnresponsiveServerIsNotAskedForEachID() throws {
    var world = try world("    retry: { limit: 0 }\n" + Self.abandon, files: 10) { call in
      switch call.step {
      case .transfer: .status(403)
      case .abandon: .status(500)
      case .token, .allocate, .commit, .probe, .fetch, .request, .download: nil
      }
    }
    world.run()
    // Each connection sends at most one release.
    #expect(steps(world).count { $0 == .abandon } <= 2)
    #expect(orphans(world).count == 10)
  }

  @Test func aLaunchThatIsKilledDuringTheReleasesLeavesTheOthersToTheNext() throws {
    var held: Set<Int> = []
    let answer: (Call) -> Reply? = { call in
      if call.step == .allocate { return nil }
      if call.step == .abandon, let id = call.uploadID {
        return held.remove(id) == nil ? .status(404) : .status(204)
      }
      if call.step == .transfer, let id = call.uploadID { held.insert(id) }
      return call.step == .transfer ? .status(403) : nil
    }
    var whole = try world(files: 4, answer)
    whole.run()
    let count = whole.machine.counters.actions
    for actions in 1..<count {
      held = []
      var world = try world(files: 4, answer)
      world.die(afterActions: actions)
      world.run()
      world.die(afterActions: nil)
      world.runRound(launches: 3)
      #expect(orphans(world).isEmpty && held.isEmpty, "killed after \(actions) actions")
    }
  }

  @Test func aTokenThatIsRejectedInAReleaseIsNotAnAuthorizationFailure() throws {
    let head =
      Yaml.head + """
        tokens:
          t:
            session: s
            request: { method: POST, url: "http://host/token" }
            capture: { access: { json: /a } }
            apply: { header: Authorization, value: "${token.access}" }

        """
    let text = Yaml.ids(
      "    retry: { initial: 12s, jitter: 0 }\n    token: t\n" + Self.abandon, head: head, validFor: "10s")
    var world = try World(
      text, files: Yaml.files(1),
      serve: Self.server { call in
        if call.step == .abandon { return .status(401) }
        return call.step == .transfer && call.number == 1 ? .status(500) : nil
      })
    world.run()
    #expect(world.scheduler.exitCode == .success)
    #expect(steps(world).count { $0 == .abandon } == 3)
    #expect(orphans(world).count == 1)
    // The exit code is also 0 if the token for the release is not issued.
    world.serve = Self.server { $0.step == .token ? .status(400) : nil }
    world.run()
    #expect(steps(world) == [.token] && world.scheduler.exitCode == .success)
  }

  @Test func aSignalDefersReleasesToTheNextLaunch() throws {
    var world = try world { call in
      switch call.step {
      case .transfer: .status(403)
      case .abandon: .status(200, after: .seconds(100))
      case .token, .allocate, .commit, .probe, .fetch, .request, .download: nil
      }
    }
    world.signals = [(world.start.advanced(by: .seconds(10)), .terminate)]
    world.run()
    #expect(world.scheduler.exitCode == .terminated)
    #expect(orphans(world).count == 1)
  }

  @Test func aLaunchWhoseTimeRunsOutDuringReleasesSucceeds() throws {
    var world = try world("    retry: { initial: 12s, jitter: 0 }\n" + Self.abandon, validFor: "10s") {
      call in
      if call.step == .abandon { return .status(200, after: .seconds(100)) }
      return call.step == .transfer && call.number == 1 ? .status(500) : nil
    }
    world.options.deadline = world.start.advanced(by: .seconds(60))
    world.run()
    #expect(world.scheduler.exitCode == .success && orphans(world).count == 1)
  }

  @Test func cancelledItemsAreReleasedInTheSameLaunch() throws {
    var world = try world(files: 4) { $0.step == .transfer ? .status(200, after: .seconds(60)) : nil }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(5)))
    world.run()
    #expect(world.scheduler.totals.items.cancelled == 4)
    let allocated = steps(world).count { $0 == .allocate }
    #expect(allocated > 0 && world.scheduler.totals.idsReleased == allocated)
    #expect(orphans(world).isEmpty)
  }

  /// If an overloaded server reports that it did not execute a commit, ferry retries the commit, but must not release
  /// the ID.
  @Test(arguments: ["already_done: { status: [409] }", ""])
  func anIDWhoseCommitWasDeferredInAnEarlierLaunchIsNotReleased(_ key: String) throws {
    var world = try world(alreadyDone: key) { $0.step == .commit ? .status(501) : nil }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.serve = Self.server { $0.step == .commit ? .status(400) : nil }
    world.run()
    #expect(steps(world) == [.commit] && world.scheduler.totals.items.failed == 1)
    #expect(orphans(world).map(\.orphaning.isInDoubt) == [true])
  }

  @Test func aReissuedIDIsNotReleased() throws {
    var world = try world(method: "PATCH") { call in
      if call.step == .transfer { return call.number == 1 ? .lost : .status(200) }
      guard call.step == .allocate, call.number == 2 else { return nil }
      var response = AttemptResult.Response(status: 200)
      response.regained = [.orphan(0, of: call.attempt.ref.node)]
      return Reply(answer: .response(response), after: .milliseconds(10))
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .allocate, .transfer, .commit])
    #expect(orphans(world).isEmpty)
  }

  /// A world in which the IDs of three files are released one after another, while the fourth file waits for the delay.
  private func worldOfTwoBatches(
    connections: Int = 1, _ serve: @escaping (Call) -> Reply
  ) throws -> World {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: \(connections) } }
      resume_delay: { policy: before_start, initial: 60s, factor: 2, max: 6h }

      """
    var world = try World(
      Yaml.ids("    batch: { max_items: 3 }\n" + Self.abandon, head: head), files: Yaml.files(4),
      serve: serve)
    world.options.launch = .background
    world.options.patience = .seconds(86_400)
    world.run()
    return world
  }

  @Test func anIDThatIsReissuedWhileItsReleaseWaitsIsNotReleased() throws {
    var released: [Int?] = []
    let server = Self.server { call in
      switch call.step {
      case .transfer: return call.path == "f03" ? nil : .status(403)
      case .abandon:
        released.append(call.uploadID)
        return .status(200, after: .seconds(100))
      case .allocate where call.path == "f03":
        var response = AttemptResult.Response(status: 200)
        response.regained = [.orphan(2, of: call.attempt.ref.node)]
        return Reply(answer: .response(response), after: .milliseconds(10))
      case .allocate, .commit, .token, .probe, .fetch, .request, .download: return nil
      }
    }
    let world = try worldOfTwoBatches(server)
    #expect(released == [1, 2])
    #expect(orphans(world).isEmpty && world.scheduler.totals.items.done == 1)
    #expect(world.scheduler.totals.idsReleased == 2)
  }

  /// If a server executed a release after it issued the ID again, the release would delete the new file. A release
  /// whose connection was lost may still be executed.
  @Test(arguments: [
    Reply.status(200, after: .seconds(64)), .fails(.connectionLost, reached: true, after: .seconds(64)),
  ])
  func anIDIsRefusedWhileTheServerMayExecuteItsRelease(release: Reply) throws {
    var allocated = 0
    let server = Self.server { call in
      switch call.step {
      case .transfer: return call.path == "f03" ? nil : .status(403)
      case .abandon: return call.uploadID == 1 ? release : .status(200)
      case .allocate where call.path == "f03":
        allocated += 1
        guard allocated < 5 else { return nil }
        var response = AttemptResult.Response(status: 200)
        response.regained = [.orphan(0, of: call.attempt.ref.node)]
        return Reply(answer: .response(response), after: .milliseconds(10))
      case .allocate, .commit, .token, .probe, .fetch, .request, .download: return nil
      }
    }
    let world = try worldOfTwoBatches(connections: 4, server)
    let sent = try #require(world.starts.first { $0.path == "f03" && $0.attempt.step == .transfer })
    // If there was a response to the release, the first allocation after it is accepted.
    let isAnswered = if case .response = release.answer { true } else { false }
    #expect(allocated == (isAnswered ? 4 : 5))
    #expect(sent.at > world.start.advanced(by: .seconds(64)))
    #expect(world.scheduler.totals.items.done == 1)
  }

  @Test func anotherReissuedIDDoesNotPreventARelease() throws {
    var released: [Int?] = []
    let world = try worldOfTwoBatches(
      Self.server { call in
        switch call.step {
        case .transfer: return .status(403)
        case .abandon:
          if call.uploadID == 1 { return .status(403) }
          released.append(call.uploadID)
          return nil
        case .allocate where call.path == "f03":
          // The server again issues the ID whose release it rejected.
          var response = AttemptResult.Response(status: 200)
          response.regained = [.orphan(0, of: call.attempt.ref.node)]
          return Reply(answer: .response(response), after: .milliseconds(10))
        case .allocate, .commit, .token, .probe, .fetch, .request, .download: return nil
        }
      })
    #expect(released == [2, 3, 4] && orphans(world).isEmpty)
  }

  @Test func unmetConditionsDeferReleases() throws {
    var world = try world { call in
      switch call.step {
      case .transfer: .status(403)
      case .abandon: .status(204, after: .seconds(5))
      case .token, .allocate, .commit, .probe, .fetch, .request, .download: nil
      }
    }
    world.machine.schedule(.conditions(.init(network: .none)), at: world.start.advanced(by: .seconds(2)))
    world.run()
    #expect(orphans(world).count == 1 && world.scheduler.exitCode == .itemsFailed)
    world.run()
    #expect(world.starts.isEmpty && orphans(world).count == 1)
    world.options.conditions = .init()
    world.run()
    #expect(steps(world) == [.abandon] && orphans(world).isEmpty)
  }
}

extension JournalEntry {
  fileprivate var orphaning: Orphaning? {
    if case .uploadIDOrphaned(_, _, let orphaning, _) = self { orphaning } else { nil }
  }
}
