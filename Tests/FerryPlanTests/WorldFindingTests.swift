import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Failures that `make simulate` found in random worlds, as the short histories to which they were shrunk.
struct WorldFindingTests {
  private let size: Int64 = 1_000_000

  @Test func cancelEndsItemsThatWaitForAToken() throws {
    var world = try World(Yaml.put("    token: login\n", head: Yaml.head + Yaml.token), files: Yaml.files(1))
    {
      .status(200, after: $0.step == .token ? .seconds(2) : .milliseconds(10))
    }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.token])
    #expect(world.scheduler.totals.items.cancelled == 1)
  }

  @Test func aLaunchEndsAfterADownloadThatWaitedForABudgetTooLong() throws {
    var world = try World(
      """
      version: 1
      name: test
      sessions: { s: { timeout_for_resource: 10m } }
      budgets: { wifi: { limit: 5MB, per: hour, cutoff: hard, binds: all } }
      fetches:
        f: { session: s, save_to: f, request: { url: "http://host/" } }

      """
    ) { _ in
      var reply = Reply.status(200, after: .seconds(1))
      reply.received = 8_000_000
      return reply
    }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.options.patience = .seconds(86_400)
    world.run()
    #expect(world.hasEnded && world.starts.count == 1)
    #expect(world.scheduler.nodeRecords[0].state == .failed)
  }

  @Test func cancelEndsAChangedItemThatWaitsForItsBatch() throws {
    let lines = "    batch: { max_items: 1 }\n    retry: { limit: 0 }\n"
    var world = try World(Yaml.put(lines), files: Yaml.files(2)) { _ in .status(503) }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 2)
    world.files = world.files.mapValues { $0.mapValues { $0 + 1 } }
    world.serve = { _ in .status(200, after: .seconds(2)) }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.now.advanced(by: .seconds(1)))
    world.run()
    #expect(world.journal.items[0]?.values.map(\.known.state) == [.cancelled, .cancelled])
  }

  @Test func aTransferThatEndsBeforeItCouldBeCancelledIsCancelledBeforeItsCommit() throws {
    var world = try World(Yaml.ids(), files: Yaml.files(1)) { call in
      var reply = Reply.status(200, after: .seconds(2))
      reply.uploadID = call.step == .allocate ? 1 : nil
      reply.lingers = .seconds(5)
      return reply
    }
    world.machine.schedule(.cancel(SessionID(0), finishing: false), at: world.start.advanced(by: .seconds(3)))
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.allocate, .transfer])
    #expect(world.scheduler.totals.items.cancelled == 1)
    #expect(world.hasEnded)
  }

  private func budget(_ networks: String, session: String = "discretionary: true") -> String {
    "version: 1\nname: test\nsessions: { s: { \(session) } }\nbudgets: { \(networks) }\n"
  }

  /// If other processes have used up a soft limit, no lease can be granted, even if a strict limit still has room.
  @Test func aRetryDoesNotAskIndefinitelyForWhatASoftLimitNoLongerGives() throws {
    let limits = "cellular: { limit: 3MB, per: day, cutoff: soft }, any: { limit: 10MB, per: day }"
    var world = try World(
      Yaml.put("    retry: { limit: 2, initial: 5s }\n", head: budget(limits)),
      files: Yaml.files(1, size: 2 * size)
    ) { call in
      var reply = Reply.status(503, after: .seconds(2))
      reply.sent = call.size
      return reply
    }
    world.options.conditions = .init(network: .cellular)
    world.machine.schedule(.othersMove(.cellular, 3 * size), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .deferred)
  }

  /// A fetch of unknown size reserves the rest of its budget. Bytes that other sessions send in the meantime are not
  /// part of this reservation.
  @Test func bytesAreNotCountedForTheReservationOfAFetchOfUnknownSize() throws {
    let more = """
      requests:
        r: { session: o, request: { method: PUT, url: "http://host/r" } }
      fetches:
        f: { session: o, needs: [r], save_to: f.json, request: { url: "http://host/f" } }

      """
    let head = """
      version: 1
      name: test
      sessions: { o: {}, s: { discretionary: true, max_connections_per_host: 1 } }
      budgets:
        wired: { limit: 10MB, per: day, cutoff: hard }
        any: { limit: 3MB, per: day, binds: discretionary }

      """
    var world = try World(Yaml.put(more, head: head), files: Yaml.files(3, size: 1_400_000)) { call in
      var reply = Reply.status(
        200, after: .seconds(call.step == .fetch ? 100 : call.step == .transfer ? 5 : 1))
      if call.step == .transfer { reply.sent = call.size }
      return reply
    }
    world.run()
    #expect(world.starts.filter { $0.attempt.step == .transfer }.count < 3)
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func aPromisedTransferStopsWhenTheNetworkAndItsBudgetChange() throws {
    var world = try World(
      Yaml.put(head: budget("cellular: { limit: 1kB, per: day }")), files: Yaml.files(1, size: size)
    ) { call in
      var reply = Reply.status(200, after: .seconds(10))
      reply.sent = call.size
      return reply
    }
    world.machine.schedule(
      .conditions(.init(network: .cellular)), at: world.start.advanced(by: .seconds(1)))
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .deferred)
    #expect(world.now < world.start.advanced(by: .seconds(2)))
  }

  @Test func aHigherPriorityOvertakesAnIntentThatIsOnDisk() throws {
    let head = Yaml.head.replacing("max_connections_per_host: 2", with: "max_connections_per_host: 1")
    let low = """
        low:
          session: s
          priority: 0.25
          files: { root: . }
          transfer: { protocol: post, request: { url: "http://host/${file.path}" } }

      """
    var files = Yaml.files(3)
    files["low"] = ["low": 10]
    var world = try World(Yaml.put("    batch: { max_items: 2 }\n" + low, head: head), files: files) { _ in
      .status(200)
    }
    world.run()
    #expect(world.starts.map(\.path) == ["f00", "f01", "f02", "low"])
    #expect(world.hasEnded)
  }

  @Test func anItemWhoseCommitMayHaveCountedIsAmbiguousOnceItsTimeHasRunOut() throws {
    let head = Yaml.head.replacing("max_connections_per_host: 2", with: "timeout_for_resource: 10m")
    var world = try World(Yaml.ids(head: head), files: Yaml.files(1)) { call in
      var reply = call.step == .commit ? Reply.lost : .status(200)
      reply.uploadID = call.step == .allocate ? 1 : nil
      return reply
    }
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    world.now = world.now.advanced(by: .seconds(3600))
    world.run()
    #expect(world.starts.isEmpty)
    #expect(world.scheduler.totals.items.ambiguous == 1)
  }

  @Test func aTokenThatFailedForAReleaseCountsForTheItemsThatThenNeedIt() throws {
    let head =
      Yaml.head.replacing("max_connections_per_host: 2", with: "kind: background")
      + "resume_delay: { policy: before_start, initial: 60s }\n" + Yaml.token
    let more = """
          token: login
          batch: { max_items: 1 }
          retry: { limit: 0 }
          abandon: { request: { method: DELETE, url: "http://host/ids/${allocate.id}" } }

      """
    var isRefused = false
    var world = try World(Yaml.ids(more, head: head), files: Yaml.files(2)) { call in
      if call.step == .token, isRefused { return .status(403) }
      var reply = Reply.status(call.step == .transfer ? 403 : call.step == .abandon ? 400 : 200)
      reply.uploadID = call.step == .allocate ? call.number : nil
      return reply
    }
    // The second item waits for the delay, and the ID of the first item must be released.
    world.run()
    isRefused = true
    world.options.patience = .seconds(1_000)
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .authorization)
  }

  @Test func theWaitLimitHoldsAcrossTheWindowsOfABudget() throws {
    var world = try World(
      Yaml.put(
        head: budget(
          "wired: { limit: 1MB, per: hour }, wifi: { limit: 10MB, per: hour }")),
      files: Yaml.files(1, size: 2 * size)
    ) { _ in .status(200) }
    world.options.patience = .seconds(10_000)
    world.run()
    #expect(world.hasEnded)
    #expect(world.now <= world.start.advanced(by: .seconds(10_000)))
    #expect(world.scheduler.exitCode == .deferred)
  }

  @Test func aDownloadUnderAHardBudgetMayUseAllRemainingBytes() throws {
    let fetch = """
      fetches:
        f: { session: s, interval: every_run, save_to: f, request: { url: "http://host/f" } }

      """
    var world = try World(budget("wired: { limit: 1MB, per: day, cutoff: hard }") + fetch) { _ in
      .status(200)
    }
    world.run()
    #expect(world.starts.map(\.attempt.byteLimit) == [size])
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func anEndingLaunchRestartsNothing() throws {
    var world = try World(Yaml.ids(method: "PATCH"), files: Yaml.files(1)) { call in
      var reply = Reply.status(200, after: .seconds(2))
      reply.uploadID = call.step == .allocate ? 1 : nil
      return reply
    }
    // The network returns before the journal has recorded that the transfer's upload ID is discarded.
    for (network, milliseconds) in [(DeviceConditions.Network.none, 3_000), (.wired, 3_001)] {
      world.machine.schedule(
        .conditions(.init(network: network)), at: world.start.advanced(by: .milliseconds(milliseconds)))
    }
    world.run()
    #expect(world.hasEnded)
    #expect(world.starts.map(\.attempt.step) == [.allocate, .transfer])
    let items = world.scheduler.totals.items
    #expect((items.done, items.waiting) == (0, 1))
  }

  @Test func promisedBytesAreLeasedInFullInTheNextWindow() throws {
    var files = Yaml.files(1, size: size)
    files["up"]?["small"] = 10
    // An attempt fails in the second window, but its header fields were transferred in the first.
    var world = try World(
      Yaml.ids(head: budget("wired: { limit: 1MB, per: hour, cutoff: cautious }")), files: files
    ) { call in
      let isInVain = call.step == .transfer && call.size == size && call.number == 1
      var reply = isInVain ? Reply.lost : .status(200)
      if isInVain { reply.after = .seconds(3000) }
      reply.uploadID = call.step == .allocate ? 1 : nil
      reply.overhead = 100
      reply.sent = isInVain ? 0 : call.size
      return reply
    }
    world.options.patience = .seconds(10_000)
    world.run()
    #expect(world.hasEnded)
    let hours = Dictionary(grouping: world.starts.filter { $0.attempt.step == .transfer }) {
      $0.at.nanoseconds / 3_600_000_000_000
    }
    #expect(hours.count == 3)
    #expect(hours.values.allSatisfy { Set($0.map(\.path)).count == 1 })
  }

  @Test(arguments: ["cautious", "hard"])
  func promisedBytesDoNotIncludeHeaderFields(cutoff: String) throws {
    // The budget is used up. The bytes of the next allocation are not reserved for the file that has to be sent again.
    var world = try World(
      Yaml.ids(head: budget("wired: { limit: 1MB, per: day, cutoff: \(cutoff) }")),
      files: Yaml.files(1, size: size)
    ) { call in
      var reply = Reply.status(call.step == .transfer ? 404 : 200)
      reply.uploadID = call.step == .allocate ? 1 : nil
      reply.overhead = call.step == .allocate ? size : 0
      reply.sent = call.size
      return reply
    }
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.allocate, .transfer, .allocate])
    #expect(world.scheduler.exitCode == .deferred)
  }

  /// The token cannot be requested after the end of the execution window, so that nothing sends the reserved bytes.
  @Test func bytesReservedForAFileWithoutATokenAreAvailableToOthers() throws {
    let head = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 1 }, quick: {} }
      execution_window: { background: 5s }
      budgets: { any: { limit: 1000B, per: hour, cutoff: hard, binds: all } }

      """
    let request = """
      requests:
        note: { session: s, request: { method: POST, url: "http://host/note" } }

      """
    let token = Yaml.token.replacing("session: s", with: "session: quick")
    var world = try World(
      Yaml.put("    token: login\n" + request, head: head + token), files: Yaml.files(1, size: 1000)
    ) { _ in .status(200) }
    world.machine.schedule(.othersMove(.wired, 1000), at: world.start)
    world.options.launch = .background
    world.options.patience = .seconds(86_400)
    world.run()
    #expect(world.starts.map(\.attempt.step) == [.request])
    #expect(world.start.duration(to: world.now) < .seconds(3601))
    #expect(world.scheduler.nodeRecords.compactMap(\.reason) == [.expired])
    #expect(world.scheduler.exitCode == .cutOff)
  }

  /// The launch waits for a change of the network as long as it waits for other conditions, and not again in each window.
  @Test(arguments: [nil, 5_000.0])
  func aBegunFileThatExceedsAWholeBudgetWaitsForAnotherNetwork(_ change: Double?) throws {
    var world = try World(
      Yaml.post(head: budget("wired: { limit: 1000B, per: hour, cutoff: hard, binds: all }")),
      files: Yaml.files(1, size: size)
    ) { _ in .status(200) }
    world.options.conditions = DeviceConditions(network: .wifi)
    world.options.patience = .seconds(10_000)
    // The journal has not recorded the intent yet.
    world.machine.schedule(
      .conditions(.init(network: .wired)), at: world.start.advanced(by: .microseconds(500)))
    if let change {
      world.machine.schedule(
        .conditions(.init(network: .wifi)), at: world.start.advanced(by: .seconds(change)))
    }
    world.run()
    #expect(world.starts.count == (change == nil ? 0 : 1))
    #expect(world.start.duration(to: world.now) < .seconds((change ?? 10_000) + 1))
    #expect(world.scheduler.exitCode == (change == nil ? .deferred : .success))
    let reason = world.scheduler.nodeRecords[0].reason
    #expect(reason?.code == (change == nil ? "budget" : nil) && reason?.until == nil)
    let intents = world.intentEntries
    #expect(intents == (change == nil ? [.recorded, .withdrawn] : [.recorded, .withdrawn, .recorded]))
  }

  /// The bytes reserved for the file alone would use up each window of the soft limit.
  @Test func aFileIsSentAgainAlthoughItExceedsASoftLimit() throws {
    let limits =
      "wired: { limit: 3MB, per: day, cutoff: soft, binds: all }, any: { limit: 10MB, per: hour, cutoff: cautious }"
    var world = try World(Yaml.put(head: budget(limits)), files: Yaml.files(1, size: 4 * size)) { call in
      var reply = call.number == 1 ? Reply.lost : .status(200)
      reply.after = .seconds(1)
      reply.sent = call.number == 1 ? 700_000 : call.size
      return reply
    }
    world.options.patience = .seconds(2 * 86_400)
    world.run()
    #expect(world.scheduler.totals.items.done == 1)
    let day = Budget.Window.day.span(containing: world.start, in: .utc)
    #expect(
      world.starts.count == 2 && world.starts.allSatisfy { $0.at < day.upperBound.advanced(by: .seconds(1)) })
  }

  /// When the reserved bytes are released, the upload ID of the first file has expired. It is released before the launch ends,
  /// and the second file, which waits for the budget, does not start after that.
  @Test func aLaunchReleasesAnUploadIDBeforeItEnds() throws {
    let others = """
        d:
          session: s
          files: { root: d }
          retry: { limit: 5 }
          transfer: { request: { url: "http://host/d/${file.path}" } }

      """
    let abandon =
      "    retry: { limit: 1 }\n    abandon: { request: { method: DELETE, url: \"http://host/ids/${allocate.id}\" } }\n"
    var world = try World(
      Yaml.ids(
        abandon + others, head: budget("wired: { limit: 6500kB, per: day, cutoff: cautious, binds: all }"),
        validFor: "2s"),
      files: ["up": ["a": 3 * size], "d": ["b": 3 * size, "c": 3 * size]]
    ) { call in
      var reply = call.step == .transfer ? Reply.lost : .status(200)
      reply.after = .seconds(3)
      reply.sent = call.step == .transfer ? size : 0
      reply.uploadID = call.step == .allocate ? 1 : nil
      if call.step == .allocate { reply.after = .milliseconds(10) }
      return reply
    }
    world.run()
    #expect(world.hasEnded)
    #expect(
      world.starts.map(\.attempt.step) == [
        .allocate, .transfer, .transfer, .transfer, .transfer, .abandon,
      ])
    #expect(world.scheduler.totals.items.waiting == 3)
  }

  /// The token is refused while only the release of the expired upload ID waits for it, and the file waits for the resume
  /// delay.
  @Test func aTokenThatWasRefusedForAReleaseCountsForTheFileThatNeedsIt() throws {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { kind: background }, quick: {} }
      resume_delay: { policy: before_start, initial: 60s, max: 6h }
      \(Yaml.token.replacing("session: s", with: "session: quick"))
      uploads:
        up:
          session: s
          files: { root: . }
          token: login
          allocate: { request: { method: POST, url: "http://host/" }, capture: { id: { json: /id } }, valid_for: 5s }
          transfer: { request: { method: PUT, url: "http://host/${allocate.id}" } }
          commit: { request: { method: POST, url: "http://host/${allocate.id}/commit" }, already_done: { status: [409] } }
          abandon: { request: { method: DELETE, url: "http://host/${allocate.id}" } }

      """
    var world = try World(yaml, files: Yaml.files(1)) { call in
      var reply = Reply.status(200, after: call.step == .transfer ? .seconds(10) : .milliseconds(10))
      if call.step == .token {
        reply = call.number <= 2 ? .status(200, expires: call.now.advanced(by: .seconds(5))) : .status(403)
      }
      if call.step == .commit { reply = .status(403, after: .seconds(10)) }
      reply.uploadID = call.step == .allocate ? 1 : nil
      return reply
    }
    world.options.launch = .background
    world.options.patience = .seconds(86_400)
    world.run()
    #expect(world.scheduler.totals.items.waiting == 1)
    #expect(world.scheduler.exitCode == .authorization)
  }

  /// If the parts of several files alternated, each upload ID would have to be valid for the time that all of them take.
  @Test func aFileInPartsIsFinishedBeforeOtherFilesContinue() throws {
    let yaml = """
      version: 1
      name: test
      sessions: { s: { kind: background, max_connections_per_host: 1 }, quick: { max_connections_per_host: 1 } }
      uploads:
        up:
          session: s
          files: { root: . }
          allocate:
            session: quick
            request: { method: POST, url: "http://host/" }
            capture: { id: { json: /id } }
            valid_for: 1h
          transfer: { protocol: content_range, chunk_size: 1MB, request: { method: PUT, url: "http://host/${allocate.id}" } }

      """
    var allocated = 0
    var world = try World(yaml, files: Yaml.files(5, size: 3 * size)) { call in
      guard case .send(let range) = call.attempt.operation else {
        allocated += 1
        var reply = Reply.status(200)
        reply.uploadID = allocated
        return reply
      }
      let isWhole = range.upperBound == 3 * size
      var reply: Reply = isWhole ? .status(200) : .status(308, offset: range.upperBound)
      reply.after = .seconds(10)
      return reply
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 5)
    let parts = world.starts.filter { $0.attempt.step == .transfer }.map(\.path)
    #expect(parts == parts.sorted() && parts.count == 15, "\(parts)")
  }
}
