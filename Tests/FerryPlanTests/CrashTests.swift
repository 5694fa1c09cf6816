import FerryManifest
import FerryPlan
import FerryWorld
import Testing

/// Kills ferry in random worlds at random times. No file is lost, and nothing is executed twice.
struct CrashTests {
  @Test(arguments: 0..<10)
  func eachItemCountsAtMostOnceAndAllCompleteDespiteCrashes(block: UInt64) throws {
    for seed in (block * 40)..<(block * 40 + 40) {
      let problems = try live(seed)
      if !problems.isEmpty {
        Issue.record("seed \(seed): \(problems.joined(separator: "; "))")
        return
      }
    }
  }

  @Test func theSameSeedGivesTheSameActions() throws {
    for seed in 0..<20 as Range<UInt64> {
      var traces: [[String]] = []
      for _ in 0..<2 {
        var server = RandomServer(seed: seed)
        var world = try World(manifest(seed), files: Yaml.files(8)) { server.answer($0) }
        world.run()
        traces.append(world.actions.map { "\($0)" })
      }
      #expect(traces[0] == traces[1], "seed \(seed)")
    }
  }

  /// Runs the world of a seed and returns its problems. Violations of the referee's rules are recorded as issues.
  private func live(_ seed: UInt64) throws -> [String] {
    var random = SeededRandom(seed: seed &* 7919)
    var server = RandomServer(seed: seed)
    let count = Int.random(in: 1...12, using: &random)
    var world = try World(manifest(seed), files: Yaml.files(count)) { server.answer($0) }
    world.label = "seed \(seed)"
    for launch in 0..<Int.random(in: 0...6, using: &random) {
      let span = Duration.milliseconds(Int.random(in: 0...9000, using: &random))
      world.options = LaunchOptions(
        limit: Int.random(in: 0..<5, using: &random) == 0 ? 3 : nil,
        deadline: Int.random(in: 0..<3, using: &random) == 0 ? world.now.advanced(by: span) : nil,
        grace: .milliseconds(Int.random(in: 0...2000, using: &random)), seed: seed &+ UInt64(launch))
      world.die(afterActions: Bool.random(using: &random) ? Int.random(in: 1...80, using: &random) : nil)
      world.signals = []
      if Int.random(in: 0..<4, using: &random) == 0 {
        let at = world.now.advanced(by: .milliseconds(Int.random(in: 1...9000, using: &random)))
        world.signals = [(at, .interrupt), (at.advanced(by: .seconds(1)), .now)]
      }
      world.run()
      if world.hasViolation { return [] }
      world.now = world.now.advanced(by: .seconds(Int.random(in: 0...100, using: &random)))
    }
    server.isGood = true
    world.die(afterActions: nil)
    (world.signals, world.options) = ([], LaunchOptions(seed: seed))
    world.runRound(launches: 2)
    var problems: [String] = []
    if !world.scheduler.isRoundThrough { problems.append("the round is still open") }
    let items = world.journal.items[try index(of: "up", in: world.plan)] ?? [:]
    if items.count != count { problems.append("\(items.count) of \(count) items are in the journal") }
    for (path, item) in items {
      let name = String(decoding: path, as: UTF8.self)
      let effects = server.effects(of: "up", name)
      if effects > 1 { problems.append("\(name) counts \(effects) times") }
      if item.known.state == .done, effects != 1 { problems.append("\(name) is done and not there") }
      if !item.known.state.isClosed { problems.append("\(name) is \(item.known.state)") }
    }
    if server.effects(of: "note", "") > 1 { problems.append("the note was sent twice") }
    return problems
  }

  private func index(of name: String, in plan: Plan) throws -> Int {
    try #require(plan.nodes.firstIndex { $0.name == name })
  }

  private func manifest(_ seed: UInt64) -> String {
    var random = SeededRandom(seed: seed &+ 1_000_003)
    let kind = ["default", "background"].randomElement(using: &random) ?? ""
    let connections = Int.random(in: 1...3, using: &random)
    let head = Yaml.head.replacing(
      "{ max_connections_per_host: 2 }", with: "{ kind: \(kind), max_connections_per_host: \(connections) }")
    let batch = ["", "    batch: { max_items: 3 }\n", "    batch: { max_bytes: 25B }\n"].randomElement(
      using: &random)
    let more =
      "    token: login\n    retry: { limit: 3 }\n" + (batch ?? "")
        + """
        requests:
          note: { session: s, needs: [up], when: always, request: { method: POST, url: "http://host/note" } }

        """
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return Yaml.ids(more, head: head + Yaml.token, validFor: "1m")
    case 1: return Yaml.ids(more, head: head + Yaml.token, validFor: "1m", method: "PATCH")
    case 2: return Yaml.ids(more, head: head + Yaml.token, validFor: "1m", alreadyDone: "")
    case 3:
      return Yaml.ids(
        more, head: head + Yaml.token, validFor: "1m",
        alreadyDone: "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }")
    default: return Yaml.post(more, head: head + Yaml.token)
    }
  }
}
