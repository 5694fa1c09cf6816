import FerryPlan
import FerrySimulation

/// The rules for the first request of a resumable upload.
extension Referee {
  /// Checks that a request that must not be repeated is sent again only if the server has certainly not
  /// executed it.
  mutating func checkCreation(_ call: Call, _ reply: Reply, _ name: String) {
    guard case .create = call.attempt.operation else { return }
    if lostCreations.contains(key(of: call)) {
      report(.nothingTwice, "\(name) is sent again, although the response to an earlier one was lost")
    }
    if call.uploadID != nil {
      report(.nothingTwice, "\(name) is sent again, although it has an upload resource")
    }
    partsOf[call.attempt.ref] = nil
    if let resource = reply.resource {
      resources[call.attempt.id] = (resource.id, false)
      expiries[FileUploadID(node: call.attempt.ref.node.index, id: resource.id)] = reply.expires
    }
  }

  /// Records that the client has learned of an upload resource. From then on, the client must ask the server
  /// for its offset.
  mutating func learnResource(_ attempt: UInt64) {
    guard let resource = resources[attempt], let flight = flights[attempt] else {
      return report(.requests, "an upload resource was assigned to request \(attempt), which is not running")
    }
    resources[attempt]?.isKnown = true
    let ref = flight.call.attempt.ref
    let key = FileUploadID(node: ref.node.index, id: resource.id)
    parts[key] = Parts(offset: nil)
    if let machine = flight.call.concatenation(in: plan) {
      for number in 1...machine.partCount(flight.call.fileSize) { parts[key]?.partials[number] = 0 }
    }
    partsOf[ref] = key
    intents[ref] = nil
  }

  mutating func learnCreation(_ call: Call, _ result: AttemptResult) {
    defer { resources[call.attempt.id] = nil }
    switch result.answer {
    case .response(let response) where [500, 502, 504, 303, 699].contains(response.status): loseCreation(call)
    case .failure(let failure) where failure.mayHaveReachedServer: loseCreation(call)
    case .response, .failure: break
    }
  }

  /// Records that the outcome of a request that must not be repeated is unknown, unless an upload resource
  /// shows the outcome.
  mutating func loseCreation(_ call: Call) {
    guard case .create = call.attempt.operation, step(call).repeatability == .once,
      resources[call.attempt.id]?.isKnown != true
    else { return }
    lostCreations.insert(key(of: call))
  }

  private func key(of call: Call) -> FileKey {
    FileKey(node: call.attempt.ref.node.index, path: Array(call.pathBytes))
  }
}
