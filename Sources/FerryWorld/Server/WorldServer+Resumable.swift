import FerryPlan
import FerrySimulation

/// Resumable uploads: a server that assigns an upload resource early, late, or not at all.
extension WorldServer {
  func isResumable(_ call: Call) -> Bool {
    guard call.step == .transfer, case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else {
      return false
    }
    return work.transferProtocol.machine?.assignsResource == true
  }

  /// Creates an upload resource for the first request of a resumable upload, unless the server ignores the protocol.
  ///
  /// - Returns: the resource; `nil` if there is none.
  mutating func offer(_ call: Call, _ number: Int, _ fault: FaultKind?) -> Int? {
    guard case .create(let range) = call.attempt.operation else { return nil }
    if isTus(call) { return offerTus(call, fault) }
    switch fault {
    case .refused, .handshakeFails: return nil
    case .timesOut, .cut, .answerLost, .gatewayTimesOut, .busy, .tooMany, .tokenRefused, .forbidden, .idEnds,
      .seeOther, .redirectRefused, .invalidStatus, .losesBytes, .slow, nil:
      break
    }
    // A server that ignores the protocol would take a part for the whole file.
    guard range.upperBound < call.fileSize || scenario.chance(number ^ 0x104, 4) > 0 else { return nil }
    return addUpload(until: call.now.advanced(by: isGood ? .seconds(90 * 86_400) : .seconds(60)))
  }

  /// Determines when the client learns of the resource. Some servers send no interim response.
  func tell(_ resource: Int, of call: Call, _ number: Int, _ reply: inout Reply) {
    if isTus(call) {
      // Only a final response names the upload.
      if case .response(let response) = reply.answer, response.status == 201 {
        reply.resource = (resource, reply.after)
        reply.expires = response.uploadExpires
      }
      return
    }
    let moment = scenario.chance(number ^ 0x1A7E, 4)
    let isInterim = moment < 3
    let isIncomplete =
      if case .response(let response) = reply.answer { response.transfer.offset != nil } else { false }
    // The final response names the resource only if the upload is incomplete.
    guard isInterim || isIncomplete else { return }
    reply.resource = (
      resource, isInterim ? .nanoseconds(reply.after.nanoseconds * Int64(moment) / 3) : reply.after
    )
    if scenario.chance(number ^ 0x11A7, 4) == 0 {
      reply.limit = UploadLimit(maxAppendSize: 700_000, minAppendSize: 10)
    }
  }

  /// The first request of a resumable upload.
  mutating func create(_ call: Call, _ range: Range<Int64>) -> Reply {
    guard let id = offered else { return count(call) }
    if isTus(call) { return createTus(call, range, id) }
    if !isGood, scenario.chance(requests ^ 0x307, 12) == 0 {
      store(call, percent: 50)
      return .status(307, transfer: .referred)
    }
    store(call, percent: 100)
    return range.upperBound == call.fileSize ? complete(call, id) : .status(201, offset: stored(id))
  }

  /// A request to an upload resource.
  mutating func resume(_ call: Call, _ id: Int) -> Reply {
    guard exists(id, at: call.now) else {
      var reply = Reply.status(404)
      reply.read(as: .gone)
      return reply
    }
    guard case .send(let range) = call.attempt.operation else { return .status(204, offset: stored(id)) }
    if isCompleted(id) {
      guard range.isEmpty else { return .offsetRefused }
      // Some servers repeat the response to the completed upload.
      return scenario.chance(requests ^ 0xC0, 2) == 0 ? .status(400, transfer: .completedEarlier) : completed
    }
    guard range.lowerBound == stored(id) else { return .offsetRefused }
    store(call, percent: isGood || scenario.chance(requests ^ 0x0FF, 8) > 0 ? 100 : 50)
    return stored(id) == call.fileSize && range.upperBound == call.fileSize
      ? complete(call, id) : .status(204, offset: stored(id))
  }

  private mutating func complete(_ call: Call, _ id: Int) -> Reply {
    markCompleted(id)
    _ = count(call)
    return completed
  }

  private var completed: Reply {
    var reply = Reply.status(200)
    if scenario.chance(requests ^ 0xC1, 2) == 0 { reply.read(as: .completed) }
    return reply
  }
}

extension Reply {
  fileprivate mutating func read(as reading: TransferReading) {
    guard case .response(var response) = answer else { return }
    response.transfer = reading
    answer = .response(response)
  }
}
