import FerryManifest
import FerryPlan
import FerrySimulation
import FerryWorld
import Testing

/// Kills a launch after each of its actions, with SIGKILL or a power failure, before or after the server has acted.
struct InterruptionPointTests {
  /// The kind of request, and how the server and ferry recognize a repetition.
  enum Kind: String, CaseIterable, Sendable {
    case put, post
    case commitAlreadyDone, commitKey, commitProbe, commitOnce, startsOver
    case requestPost, requestPut, fetch

    /// Whether the outcome can remain unknown after a lost response.
    var mayBeAmbiguous: Bool {
      switch self {
      case .post, .commitOnce, .requestPost: true
      case .put, .commitAlreadyDone, .commitKey, .commitProbe, .startsOver, .requestPut, .fetch: false
      }
    }

    var yaml: String {
      switch self {
      case .put: return Yaml.put()
      case .post: return Yaml.post()
      case .commitAlreadyDone: return Yaml.ids()
      case .commitKey: return Yaml.ids(alreadyDone: "idempotency_key: { header: Idempotency-Key }")
      case .commitProbe:
        return Yaml.ids(alreadyDone: "probe: { request: { url: \"http://host/ids/${allocate.id}\" } }")
      case .commitOnce: return Yaml.ids(alreadyDone: "")
      case .startsOver: return Yaml.ids(method: "PATCH")
      case .requestPost:
        return Yaml.head
          + "requests: { r: { session: s, request: { method: POST, url: \"http://host/r\" } } }\n"
      case .requestPut:
        return Yaml.head
          + "requests: { r: { session: s, request: { method: PUT, url: \"http://host/r\" } } }\n"
      case .fetch:
        return Yaml.head
          + "fetches: { f: { session: s, save_to: f, request: { url: \"http://host/f\" } } }\n"
      }
    }
  }

  /// A server that accepts one commit for each ID, and counts its actions.
  final class Server: @unchecked Sendable {  // Used by one test's thread.
    let kind: Kind
    var effects = 0
    private var whole: Set<Int> = []
    private var committed: Set<Int> = []
    private var ids = 0
    /// Requests that have not reached the server yet.
    private var pending: [(at: Instant, act: () -> Void)] = []

    init(_ kind: Kind) { self.kind = kind }

    func answer(_ call: Call) -> Reply {
      settle(at: call.now)
      let end = call.now.advanced(by: .milliseconds(10))
      switch call.step {
      case .token: return .status(200)
      case .allocate:
        ids += 1
        var reply = Reply.status(200)
        reply.uploadID = ids
        return reply
      case .transfer:
        guard let id = call.uploadID else {
          pending.append((end, { self.effects += 1 }))
          return .status(200)
        }
        if committed.contains(id) { return .status(409) }
        pending.append((end, { self.whole.insert(id) }))
        return .status(200)
      case .commit:
        guard let id = call.uploadID, whole.contains(id) else { return .status(404) }
        if committed.contains(id), kind == .commitAlreadyDone || kind == .startsOver { return .status(409) }
        pending.append(
          (
            end,
            {
              // A repeated key has no effect.
              if self.committed.insert(id).inserted || self.kind != .commitKey { self.effects += 1 }
            }
          ))
        return .status(200)
      case .probe: return .status(call.uploadID.map(committed.contains) == true ? 200 : 404)
      case .abandon: return .status(204)
      case .fetch, .request, .download:
        pending.append((end, { self.effects += 1 }))
        return .status(200)
      }
    }

    private func settle(at now: Instant) {
      let due = pending.prefix { $0.at <= now }
      pending.removeFirst(due.count)
      for (_, act) in due { act() }
    }

    /// Ends the connection to the killed client. Requests that already had a response have been executed.
    func die(at now: Instant, hasActed: Bool) {
      settle(at: hasActed ? .distantFuture : now)
      pending = []
    }
  }

  struct Point: Sendable, CustomStringConvertible {
    var kind: Kind
    var losesPower: Bool
    var hasActed: Bool
    var description: String {
      "\(kind.rawValue), \(losesPower ? "a power cut" : "SIGKILL") \(hasActed ? "after" : "before") the server acted"
    }
  }

  static let points = Kind.allCases.flatMap { kind in
    [false, true].flatMap { losesPower in
      [false, true].map { Point(kind: kind, losesPower: losesPower, hasActed: $0) }
    }
  }

  @Test(arguments: points)
  func nothingIsLostOrDoneTwiceWhereverALaunchIsKilled(point: Point) throws {
    var actions = 1
    while try live(point, actions) { actions += 1 }
    #expect(actions > 3)
  }

  /// - Returns: whether the launch was killed before its end.
  private func live(_ point: Point, _ actions: Int) throws -> Bool {
    let kind = point.kind
    let server = Server(kind)
    let files = kind.yaml.contains("uploads:") ? Yaml.files(1) : [:]
    var world = try World(kind.yaml, files: files) { server.answer($0) }
    let name = "\(point), action \(actions)"
    world.label = name
    world.die(afterActions: actions, losesPower: point.losesPower)
    world.run()
    let wasKilled = !world.hasEnded
    server.die(at: world.now, hasActed: point.hasActed || !wasKilled)
    world.die(afterActions: nil)
    world.runRound(launches: 5)
    server.die(at: world.now, hasActed: true)
    #expect(world.scheduler.isRoundThrough, "\(name)")
    let states: [String] =
      kind.yaml.contains("uploads:")
      ? world.journal.items[0]?.values.map { "\($0.known.state)" } ?? []
      : world.scheduler.nodeRecords.map(\.state.rawValue)
    let isAmbiguous = states == ["ambiguous"]
    #expect(states == ["done"] || states == ["succeeded"] || isAmbiguous, "\(name): \(states)")
    #expect(!isAmbiguous || (kind.mayBeAmbiguous && wasKilled), "\(name) is ambiguous")
    switch kind {
    case .put, .requestPut, .fetch: #expect(server.effects >= 1, "\(name)")
    case .post, .commitAlreadyDone, .commitKey, .commitProbe, .commitOnce, .startsOver, .requestPost:
      #expect(server.effects <= 1, "\(name): \(server.effects) times")
      #expect(isAmbiguous || server.effects >= 1, "\(name): \(server.effects) times")
    }
    return wasKilled
  }
}
