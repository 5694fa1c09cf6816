import FerryPlan
import FerrySimulation

/// Uploads of tus, whose server may state when they expire.
extension WorldServer {
  func isTus(_ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else { return false }
    return work.transferProtocol.name == .tus
  }

  /// A response that some servers give the expiry of the upload.
  func statingExpiry(_ reply: Reply, of id: Int, _ call: Call) -> Reply {
    guard scenario.chance(call.attempt.ref.node.index ^ 0xE4B, 3) > 0,
      case .response(var response) = reply.answer
    else { return reply }
    response.uploadExpires = end(id)
    var stating = reply
    stating.answer = .response(response)
    return stating
  }

  /// A response to a part, after which some servers keep the upload for longer.
  mutating func extendingExpiry(_ reply: Reply, of id: Int, _ call: Call) -> Reply {
    if scenario.chance(call.attempt.ref.node.index ^ 0xE4C, 2) == 0 {
      extend(id, until: call.now.advanced(by: .seconds(60)))
    }
    return statingExpiry(reply, of: id, call)
  }
}
