import FerryManifest
import FerryPlan
import Testing

/// Several manifests combined into one plan.
struct CombiningTests {
  /// A manifest with an upload `up` that sends files. `session` contains further keys of the session `s`, and
  /// `top` further keys of the manifest.
  private func manifest(
    _ name: String, session: String = "", identifier: String? = "shared", upload: String = "",
    top: String = ""
  ) -> String {
    """
    version: 1
    name: \(name)
    sessions:
      s:
        max_connections_per_host: 1
        \(identifier.map { "identifier: \($0)" } ?? "")
        \(session)
    uploads:
      up:
        session: s
        files: { root: . }
        \(upload)
        transfer: { request: { url: "http://host/\(name)/${file.path}" } }
    \(top)
    """
  }

  private func combined(_ manifests: String...) throws -> Plan {
    try Plan(combining: manifests.map { try Plan(yaml: $0) })
  }

  private let requests = """
    requests:
      first: { session: s, capture: { id: { json: /id } }, request: { url: "http://host/first" } }
      second: { session: s, token: login, request: { url: "http://host/${requests.first.id}" } }

    """

  @Test func aPlanOfOneManifestIsUnchanged() throws {
    let plan = try Plan(yaml: Yaml.put(requests, head: Yaml.head + Yaml.token))
    #expect(try Plan(combining: [plan]) == plan)
    #expect(plan.manifest == "test" && plan.title(of: NodeID(0)) == "login")
  }

  @Test func nodesKeepTheirManifestAndWhatTheyReferTo() throws {
    let plan = try combined(
      manifest("a"), manifest("b", top: Yaml.token + requests), manifest("c", identifier: nil))
    #expect(plan.manifests == ["a", "b", "c"])
    let titles = ["a/up", "b/login", "b/up", "b/first", "b/second", "c/up"]
    #expect(plan.nodes.indices.map { plan.title(of: NodeID($0)) } == titles)
    #expect(plan.nodes.map(\.manifest.index) == [0, 1, 1, 1, 1, 2])
    #expect(plan.nodes[4].needs == [NodeID(3)])
    #expect(plan.nodes[4].steps[0].token == NodeID(1))
    // The manifests share one session by its identifier. The name of a session has no meaning in other manifests.
    #expect(plan.sessions.map(\.name) == ["shared", "c.s"])
    #expect(plan.nodes.map(\.session.index) == [0, 0, 0, 0, 0, 1])
    #expect(plan.nodes.flatMap(\.steps).map(\.session.index) == [0, 0, 0, 0, 0, 1])
  }

  @Test(arguments: [
    ("kind: background", "kind"), ("timeout_for_request: 1s", "timeout_for_request"),
    ("timeout_for_resource: 1s", "timeout_for_resource"), ("discretionary: true", "discretionary"),
    ("allows_cellular: false", "allows_cellular"), ("allows_expensive: false", "allows_expensive"),
  ])
  func aSharedSessionHasTheSameSettings(keys: String, key: String) throws {
    let expected = PlanConflict(ManifestID(1), ManifestID(2), session: "shared", key: key)
    #expect(throws: expected) {
      try combined(
        manifest("a", identifier: nil), manifest("b"),
        manifest("c", session: keys))
    }
  }

  @Test func limitsAndCommandsOfASharedSessionAreTheSame() throws {
    let two = manifest("b").replacing("host: 1", with: "host: 2")
    #expect(
      throws: PlanConflict(ManifestID(0), ManifestID(1), session: "shared", key: "max_connections_per_host")
    ) { try combined(manifest("a"), two) }
    #expect(throws: PlanConflict(ManifestID(0), ManifestID(1), session: "shared", key: "on_events")) {
      try combined(
        manifest("a", session: "kind: background"),
        manifest("b", session: "kind: background\n    on_events: [x]"))
    }
  }

  @Test func fieldsOfASharedSessionMayDiffer() throws {
    let plan = try combined(
      manifest("a", session: "headers: { User-Agent: a }"),
      manifest("b", session: "headers: { User-Agent: b }"))
    #expect(plan.sessions.count == 1)
  }

  @Test(arguments: [
    ("budgets: { wifi: { limit: 1MB, per: day } }", "budgets.wifi"),
    ("budgets: { wired: { limit: 1MB, per: day } }", "budgets.wired"),
    ("budgets: { cellular: { limit: 1MB, per: day } }", "budgets.cellular"),
    ("resume_delay: { policy: before_start }", "resume_delay"),
    ("execution_window: { background: 30s }", "execution_window"),
    ("force_quit: remove_session", "force_quit"),
  ])
  func allManifestsHaveTheSamePolicies(policy: String, key: String) throws {
    #expect(throws: PlanConflict(ManifestID(0), ManifestID(1), key: key)) {
      try combined(manifest("a", identifier: nil), manifest("b", identifier: nil, top: policy))
    }
    #expect(try combined(manifest("a", top: policy), manifest("b", top: policy)).sessions.count == 1)
  }

  // MARK: One scheduler

  private let files: [String: [String: Int64]] = [
    "photos/up": ["p1": 9, "p2": 9, "p3": 9], "index/up": ["i1": 9, "i2": 9, "i3": 9],
  ]

  @Test func priorityHoldsAcrossTheManifestsOfASession() throws {
    let plan = try combined(manifest("photos"), manifest("index", upload: "priority: high"))
    var world = World(plan, files: files) { _ in .status(200) }
    world.run()
    #expect(world.starts.map(\.path) == ["i1", "i2", "i3", "p1", "p2", "p3"])
    #expect(world.mostInFlight == 1)
    #expect(world.scheduler.isRoundThrough)
  }

  @Test func newlyReadyWorkOvertakesWaitingWork() throws {
    let photos = manifest("photos")
    let index = manifest(
      "index", upload: "priority: high\n    needs: [ask]",
      top: "requests: { ask: { session: s, request: { url: \"http://other/\" } } }")
    var world = World(try combined(photos, index), files: files) { call in
      .status(200, after: .milliseconds(call.node == "ask" ? 15 : 10))
    }
    world.run()
    let paths = world.starts.map(\.path).filter { !$0.isEmpty }
    #expect(paths.first == "p1")
    #expect(paths.suffix(1) == ["p3"] && paths.firstIndex(of: "i3") == 4, "\(paths)")
  }

  @Test func separateSessionsRunConcurrently() throws {
    let plan = try combined(
      manifest("photos", identifier: nil), manifest("index", identifier: nil, upload: "priority: high"))
    var world = World(plan, files: files) { _ in .status(200) }
    world.run()
    #expect(world.starts.prefix(2).map(\.at) == [world.start, world.start])
  }

  @Test func oneManifestOfASharedSessionCanBeCancelledAlone() throws {
    var scheduler = Scheduler(
      plan: try combined(manifest("photos"), manifest("index")),
      starts: ["photos/up", "index/up"].map { name in
        var table = FileColumns()
        for path in (files[name] ?? [:]).keys.sorted() { table.append(path: path.utf8, size: 9, modified: 0) }
        var listed = Reconciliation(listing: table, deliver: .whenChanged, round: 1, nextRow: 1)
        listed.finish()
        return .upload(listed.items, listed.settled)
      }, options: LaunchOptions(seed: 1))
    let now = Instant(nanoseconds: 0)
    _ = scheduler.handle(.launched, at: now)
    _ = scheduler.handle(.cancelled(SessionID(0), of: ManifestID(1), finishing: false), at: now)
    #expect(scheduler.nodeRecords.map(\.items?.cancelled) == [0, 3])
    #expect(scheduler.takesItems(NodeID(0)) && !scheduler.takesItems(NodeID(1)))
    _ = scheduler.handle(.cancelled(SessionID(0), finishing: false), at: now)
    #expect(!scheduler.takesItems(NodeID(0)))
  }

  @Test func eachManifestHasItsOwnRoundCountsAndExitCode() throws {
    let plan = try combined(
      manifest("photos"), manifest("index", upload: "retry: { limit: 0 }"), manifest("more"))
    var world = World(plan, files: files.merging(["more/up": ["m": 1]]) { $1 }) { call in
      switch call.path {
      case "p2": .status(403)
      case "i1": .status(503)
      default: .status(200)
      }
    }
    world.run()
    let scheduler = world.scheduler
    let manifests = (0..<3).map { ManifestID($0) }
    #expect(manifests.map { scheduler.isRoundThrough(of: $0) } == [true, false, true])
    #expect(!scheduler.isRoundThrough)
    #expect(manifests.map { scheduler.doneCount(of: $0) } == [2, 2, 1])
    #expect(manifests.map { scheduler.failedCount(of: $0) } == [1, 0, 0])
    #expect(manifests.map { scheduler.exitCode(of: $0) } == [.itemsFailed, .temporary, .success])
    #expect(scheduler.exitCode == .itemsFailed)
    #expect(scheduler.nodeRecords.map(\.manifest) == ["photos", "index", "more"])
    #expect(
      Set(scheduler.itemRecords.map { "\($0.manifest ?? "")/\($0.path)" }) == ["photos/p2", "index/i1"])
  }
}
