import FerryManifest
import FerryPlan
import FerrySimulation

/// A server whose upload IDs expire and which executes each commit once, behind a network that loses requests and
/// responses.
struct RandomServer {
  var random: SeededRandom
  /// If true, nothing fails any longer.
  var isGood = false
  /// The number of executed actions, by node and path.
  private(set) var effects: [String: Int] = [:]
  private var nextID = 1
  private var ends: [Int: Instant] = [:]
  private var whole: Set<Int> = []
  private var committed: Set<Int> = []

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  func effects(of node: String, _ path: String) -> Int { effects["\(node)/\(path)"] ?? 0 }

  mutating func answer(_ call: Call) -> Reply {
    let after = Duration.milliseconds(Int.random(in: 1...3000, using: &random))
    let fate = isGood ? 100 : Int.random(in: 0..<100, using: &random)
    switch fate {
    case 0..<5: return .fails(.connect, reached: false, after: after)
    case 5..<8: return .fails(.requestTimeout, reached: true, after: after)
    case 8..<13:
      _ = carryOut(call)
      return .fails(.connectionLost, reached: true, after: after)
    case 13..<16: return .status(503, after: after)
    case 16..<18:
      return .status(429, after: after, retryAfter: .seconds(Int.random(in: 1...4000, using: &random)))
    case 18..<21: return .status(401, after: after)
    case 21..<23:
      if Bool.random(using: &random) { _ = carryOut(call) }
      return .status(504, after: after)
    case 23: return .status(403, after: after)
    case 24: return .fails(.handshake, reached: false, after: after)
    default:
      var reply = carryOut(call)
      reply.after = after
      return reply
    }
  }

  private mutating func carryOut(_ call: Call) -> Reply {
    switch call.step {
    case .token:
      return .status(200, expires: call.now.advanced(by: .seconds(Int.random(in: -5...120, using: &random))))
    case .allocate:
      var reply = Reply.status(200)
      reply.uploadID = nextID
      ends[nextID] = call.now.advanced(by: .seconds(60))
      nextID += 1
      return reply
    case .transfer:
      guard let id = call.uploadID else { return count(call) }
      guard let end = ends[id], call.now < end else { return .status(404) }
      whole.insert(id)
      return .status(200)
    case .commit:
      guard let id = call.uploadID, let end = ends[id] else { return .status(404) }
      if committed.contains(id) { return .status(409) }
      guard call.now < end, whole.contains(id) else { return .status(410) }
      committed.insert(id)
      return count(call)
    case .probe: return .status(call.uploadID.map(committed.contains) == true ? 200 : 404)
    case .abandon:
      if let id = call.uploadID, committed.contains(id) { return count(call) }
      return .status(204)
    case .fetch: return .status(200)
    case .request, .download: return count(call)
    }
  }

  private mutating func count(_ call: Call) -> Reply {
    effects["\(call.node)/\(call.path)", default: 0] += 1
    return .status(200)
  }
}
