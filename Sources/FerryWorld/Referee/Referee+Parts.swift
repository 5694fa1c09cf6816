import FerryPlan
import FerrySimulation

/// The rules for files that are sent in parts.
extension Referee {
  /// What the server has stated about the bytes under an upload ID.
  struct Parts {
    /// The number of bytes that the server has; `nil` if it may differ from the last statement.
    var offset: Int64?
    /// Whether it has stated that it has the whole file.
    var isWhole = false
  }

  /// Checks that a part begins where the server has stated that its bytes end.
  mutating func checkPart(_ call: Call, _ name: String) {
    guard call.attempt.operation != .whole, let id = call.uploadID else { return }
    let key = FileUploadID(node: call.attempt.ref.node.index, id: id)
    partsOf[call.attempt.ref] = key
    guard case .send(let range) = call.attempt.operation else { return }
    if let offset = parts[key]?.offset {
      if range.lowerBound != offset {
        report(.offset, "\(name) sends bytes from \(range.lowerBound), but the server has \(offset)")
      }
    } else {
      report(.offset, "\(name) sends bytes from \(range.lowerBound) without asking for the offset")
    }
    if range.upperBound > call.fileSize || (range.isEmpty && call.fileSize > 0) {
      report(.offset, "\(name) sends the bytes \(range) of a file of \(call.fileSize)")
    }
    parts[key, default: Parts()].offset = nil
  }

  /// Updates what is known about the server's bytes. A refused token, and a request that was not sent, change nothing.
  mutating func learnOffset(_ call: Call, _ result: AttemptResult) {
    guard call.step == .transfer, call.attempt.operation != .whole, let id = call.uploadID else { return }
    let key = FileUploadID(node: call.attempt.ref.node.index, id: id)
    switch result.answer {
    case .response(let response) where response.offset != nil:
      parts[key, default: Parts()].offset = response.offset
      if response.offset == call.fileSize { parts[key]?.isWhole = true }
    case .response(let response) where (200...299).contains(response.status):
      parts[key, default: Parts()].isWhole = true
    case .response(let response) where response.status == 401: keep(call, key)
    case .failure(let failure) where !failure.mayHaveReachedServer: keep(call, key)
    case .response, .failure: break
    }
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
