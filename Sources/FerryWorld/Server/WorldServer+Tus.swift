import FerryPlan
import FerrySimulation

/// Uploads of tus, whose server may state when they expire.
extension WorldServer {
  func isTus(_ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else { return false }
    return work.transferProtocol.name == .tus
  }

  /// Adds the expiry of the upload to a response, as some servers do.
  func statingExpiry(_ reply: Reply, of id: Int, _ call: Call) -> Reply {
    guard scenario.chance(call.attempt.ref.node.index ^ 0xE4B, 3) > 0,
      case .response(var response) = reply.answer
    else { return reply }
    response.uploadExpires = end(id)
    var stating = reply
    stating.answer = .response(response)
    return stating
  }

  /// The response to a part. Some servers then keep the upload for longer, and state the new expiry.
  mutating func extendingExpiry(_ reply: Reply, of id: Int, _ call: Call) -> Reply {
    if scenario.chance(call.attempt.ref.node.index ^ 0xE4C, 2) == 0 {
      extend(id, until: call.now.advanced(by: .seconds(60)))
    }
    return statingExpiry(reply, of: id, call)
  }

  /// Creates an upload for a request with bytes, unless the request does not reach the server or is refused.
  mutating func offerTus(_ call: Call, _ fault: FaultKind?) -> Int? {
    switch fault {
    case .refused, .handshakeFails, .busy, .tooMany, .tokenRefused, .forbidden: return nil
    case .timesOut, .cut, .answerLost, .gatewayTimesOut, .idEnds, .seeOther, .redirectRefused, .invalidStatus,
      .losesBytes, .slow, nil:
      if call.concatenation(in: plan) != nil { return offerPartial(call) }
      return addUpload(until: call.now.advanced(by: isGood ? .seconds(90 * 86_400) : .seconds(60)))
    }
  }

  /// Handles the request that creates an upload with bytes. Some servers ignore the bytes, and do not state
  /// an offset.
  mutating func createTus(_ call: Call, _ range: Range<Int64>, _ id: Int) -> Reply {
    if let machine = call.concatenation(in: plan) { return createPartial(call, machine, id) }
    let takes = scenario.chance(call.attempt.ref.node.index ^ 0xE4D, 4)
    if takes > 0 { store(call, percent: takes == 1 && !isGood ? 50 : 100) }
    let isWhole = stored(id) == call.fileSize && range.upperBound == call.fileSize
    if isWhole {
      markWhole(id)
      _ = count(call)
    }
    return statingExpiry(.status(201, offset: isWhole ? nil : stored(id)), of: id, call)
  }
}
