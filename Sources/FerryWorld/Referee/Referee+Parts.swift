import FerryPlan
import FerrySimulation

/// The rules for files that are sent in parts.
extension Referee {
  /// What the server has stated about the bytes under an upload ID.
  struct Parts {
    /// The number of bytes that the server has; `nil` if it may differ from the last statement.
    var offset: Int64?
    /// Whether the server has stated that it has the whole file.
    var isWhole = false
    /// The sizes of the numbered parts that the server has confirmed, by the offset of their first byte.
    var numbered: [Int64: Int64] = [:]
    /// Whether the server has listed its parts, or has none from earlier launches.
    var isListed = false
    /// The number of bytes that each partial upload has; `nil` if it may differ from the server's last statement.
    var partials: [Int: Int64?] = [:]
  }

  /// Checks that a part begins where the server has stated that its bytes end.
  mutating func checkPart(_ call: Call, _ name: String) {
    if case .create = call.attempt.operation { return }
    guard call.attempt.operation != .whole, let id = call.uploadID else { return }
    let key = FileUploadID(node: call.attempt.ref.node.index, id: id)
    partsOf[call.attempt.ref] = key
    if let expires = expiries[key], expires <= now {
      report(.expiry, "\(name) continues an upload that expired at \(expires)")
    }
    guard case .send(let range) = call.attempt.operation else { return }
    if isNumbered(call) { return checkNumberedPart(range, parts[key] ?? Parts(), name) }
    if let machine = call.concatenation(in: plan) { return checkPartial(call, range, machine, key, name) }
    if let offset = parts[key]?.offset {
      if range.lowerBound != offset {
        report(.offset, "\(name) sends bytes from \(range.lowerBound), but the server has \(offset)")
      }
    } else {
      report(.offset, "\(name) sends bytes from \(range.lowerBound) without asking for the offset")
    }
    // An empty part completes a resumable upload.
    let isIdle = range.isEmpty && (range.lowerBound < call.fileSize || !completesWithEmptyPart(call))
    if range.upperBound > call.fileSize || (isIdle && call.fileSize > 0) {
      report(.offset, "\(name) sends the bytes \(range) of a file of \(call.fileSize)")
    }
    parts[key, default: Parts()].offset = nil
  }

  /// Whether the call's upload has numbered parts, which may be sent in any order.
  private func isNumbered(_ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work,
      case .s3Multipart = work.transferProtocol
    else { return false }
    return true
  }

  private mutating func checkNumberedPart(_ range: Range<Int64>, _ known: Parts, _ name: String) {
    if !known.isListed { report(.offset, "\(name) sends a part without asking which parts the server has") }
    if known.numbered[range.lowerBound] != nil {
      report(
        .offset, "\(name) sends the bytes \(range) again, although the server has stated that it has them")
    }
  }

  private mutating func checkPartial(
    _ call: Call, _ range: Range<Int64>, _ machine: Tus, _ key: FileUploadID, _ name: String
  ) {
    let number = machine.resourceNumber(of: call.attempt.operation, size: call.fileSize)
    let part = machine.range(ofPart: number, size: call.fileSize)
    if range.isEmpty || !part.contains(range.lowerBound) || range.upperBound > part.upperBound {
      report(.offset, "\(name) sends the bytes \(range), which are not those of part \(number)")
    }
    if let offset = parts[key]?.partials[number] ?? nil {
      if range.lowerBound - part.lowerBound != offset {
        report(
          .offset, "\(name) sends bytes from \(range.lowerBound), but partial upload \(number) has \(offset)")
      }
    } else {
      report(.offset, "\(name) sends bytes of part \(number) without asking for the offset")
    }
    parts[key, default: Parts()].partials[number] = .some(nil)
  }

  private mutating func learnPartial(
    _ call: Call, _ result: AttemptResult, _ machine: Tus, _ key: FileUploadID
  ) {
    let number = machine.resourceNumber(of: call.attempt.operation, size: call.fileSize)
    switch result.answer {
    case .response(let response) where response.transfer.offset != nil:
      parts[key, default: Parts()].partials[number] = response.transfer.offset
    case .response(let response) where response.status == 401: keepPartial(call, number, machine, key)
    case .failure(let failure) where !failure.mayHaveReachedServer: keepPartial(call, number, machine, key)
    case .response, .failure: break
    }
    let known = parts[key]?.partials.values.compactMap(\.self) ?? []
    parts[key]?.isWhole =
      known.count == machine.partCount(call.fileSize) && known.reduce(0, +) == call.fileSize
  }

  private mutating func keepPartial(_ call: Call, _ number: Int, _ machine: Tus, _ key: FileUploadID) {
    guard case .send(let range) = call.attempt.operation else { return }
    let start = machine.range(ofPart: number, size: call.fileSize).lowerBound
    parts[key, default: Parts()].partials[number] = range.lowerBound - start
  }

  private func completesWithEmptyPart(_ call: Call) -> Bool {
    guard case .upload(let work) = plan.nodes[call.attempt.ref.node.index].work else { return false }
    return work.transferProtocol.name == .resumable
  }

  /// Updates what is known about the server's bytes. A refused token, and a request that was not sent, change nothing.
  mutating func learnOffset(_ call: Call, _ result: AttemptResult) {
    guard call.step == .transfer, call.attempt.operation != .whole,
      let id = call.uploadID ?? resources[call.attempt.id]?.id
    else { return }
    let key = FileUploadID(node: call.attempt.ref.node.index, id: id)
    if isNumbered(call) { return learnParts(call, result, key) }
    if case .response(let response) = result.answer, let expires = response.uploadExpires {
      expiries[key] = expires
    }
    if let machine = call.concatenation(in: plan) { return learnPartial(call, result, machine, key) }
    switch result.answer {
    case .response(let response) where response.transfer.offset != nil:
      parts[key, default: Parts()].offset = response.transfer.offset
      if response.transfer.offset == call.fileSize { parts[key]?.isWhole = true }
    case .response(let response) where (200...299).contains(response.status):
      parts[key, default: Parts()].isWhole = true
    case .response(let response) where response.status == 401: keep(call, key)
    case .failure(let failure) where !failure.mayHaveReachedServer: keep(call, key)
    case .response, .failure: break
    }
  }

  private mutating func learnParts(_ call: Call, _ result: AttemptResult, _ key: FileUploadID) {
    guard case .response(let response) = result.answer else { return }
    var known = parts[key] ?? Parts()
    switch (response.transfer, call.attempt.operation) {
    case (.part, .send(let range)):
      known.numbered[range.lowerBound] = range.upperBound - range.lowerBound
    case (.parts(let list), _):
      // All parts except the last one have 1 MB.
      for part in list.parts { known.numbered[Int64(part.number - 1) * 1_000_000] = part.size }
      if list.next == nil { known.isListed = true }
    default: return
    }
    known.isWhole = known.numbered.values.reduce(0, +) == call.fileSize
    parts[key] = known
  }

  private mutating func keep(_ call: Call, _ key: FileUploadID) {
    if case .send(let range) = call.attempt.operation {
      parts[key, default: Parts()].offset = range.lowerBound
    }
  }

  /// Checks that a file counts as sent only if the server has stated that it has all of it.
  mutating func checkWhole(_ ref: ItemRef, _ machine: VirtualMachine) {
    guard let key = partsOf[ref], parts[key]?.isWhole != true else { return }
    report(
      .offset, "\(name(ref, machine)) counts as sent, but the server has not stated that it has all of it")
  }
}
