import FerryPlan
import FerrySimulation

/// Partial uploads of tus. Those of one file have one upload ID here, because none of them is useful without the
/// others.
extension WorldServer {
  /// The upload ID for a request that creates a partial upload: a new ID for the first part of a file, and
  /// the same ID for the other parts of the file.
  mutating func offerPartial(_ call: Call) -> Int {
    let key = key(call)
    if let id = openPartials[key], exists(id, at: call.now), !isUsed(id),
      call.attempt.operation != .create(0..<0)
    {
      return id
    }
    let id = addUpload(until: call.now.advanced(by: isGood ? .seconds(90 * 86_400) : .seconds(60)))
    openPartials[key] = id
    return id
  }

  mutating func createPartial(_ call: Call, _ machine: Tus, _ id: Int) -> Reply {
    setPartial(machine.resourceNumber(of: call.attempt.operation, size: call.fileSize), of: id, to: 0)
    return statingExpiry(.status(201, offset: 0), of: id, call)
  }

  /// A request to a partial upload.
  mutating func continuePartial(_ call: Call, _ machine: Tus, _ id: Int) -> Reply {
    let number = machine.resourceNumber(of: call.attempt.operation, size: call.fileSize)
    guard partial(number, of: id) != nil else { return .status(404) }
    markUsed(id)
    if case .send(let range) = call.attempt.operation {
      guard machine.offset(range, of: call.fileSize) == partial(number, of: id) else {
        return .offsetRefused
      }
      store(call, percent: isGood || scenario.chance(requests ^ 0x0FF, 8) > 0 ? 100 : 50)
    }
    if storedPartials(id) == call.fileSize { markWhole(id) }
    return extendingExpiry(.status(202, offset: partial(number, of: id)), of: id, call)
  }

  /// Stores the first bytes of a part, if it begins where the bytes of its partial upload end.
  mutating func storePartial(_ call: Call, _ machine: Tus, _ range: Range<Int64>, _ id: Int, percent: Int) {
    let number = machine.resourceNumber(of: call.attempt.operation, size: call.fileSize)
    guard let stored = partial(number, of: id), machine.offset(range, of: call.fileSize) == stored else {
      return
    }
    setPartial(number, of: id, to: stored + (range.upperBound - range.lowerBound) * Int64(percent) / 100)
  }
}

extension Tus {
  /// The offset, within its partial upload, of the first byte of a range of the file.
  func offset(_ range: Range<Int64>, of size: Int64) -> Int64 {
    range.lowerBound - self.range(ofPart: resourceNumber(of: .send(range), size: size), size: size).lowerBound
  }
}
