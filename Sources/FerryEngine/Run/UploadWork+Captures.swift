import FerryManifest
import FerryPlan

/// Whether the captures of an earlier launch are sufficient for the steps of the manifest.
extension UploadWork {
  /// Whether only a person can decide about a file whose transfer must not be repeated: it may have been executed, and no
  /// upload resource shows whether it was, or it was executed, and the next step needs a value that was not captured.
  func needsDecision(_ known: Reconciliation.Known, _ captures: [CapturedValue]) -> Bool {
    guard transfer.repeatability == .once else { return false }
    let captured = captures.map(\.name)
    switch (known.state, known.intent) {
    case (.allocated, .transfer):
      return transfersOnceToResource && !captured.contains("allocate.\(Resumable.resourceCapture)")
    case (.transferred, nil), (.transferred, .commitDeferred): return missingCapture(captured, known) != nil
    default: return false
    }
  }

  /// The reason why the current steps cannot use the captures of an earlier launch; `nil` if the steps can
  /// use the captures.
  ///
  /// The captures of a file that was sent, and must not be sent twice, are kept even if some are missing.
  func lacks(_ captures: [CapturedValue], of known: Reconciliation.Known) -> String? {
    guard [nil, .commitDeferred].contains(known.intent) else { return nil }
    let captured = captures.map(\.name)
    if known.state == .allocated, allocate == nil, hasUploadIDs {
      guard captured.contains("allocate.\(Resumable.resourceCapture)") else {
        return "the upload ID is not the upload resource that the protocol requires"
      }
      guard case .tus(let machine) = transferProtocol else { return nil }
      let parts = captures.first { $0.name == "allocate.\(Tus.concatenationCapture)" }
      return machine.continues(partialUploads: parts?.value, size: known.size)
        ? nil : "the upload was created with another 'parallel_parts' or 'threshold'"
    }
    if known.state == .allocated, case .s3Multipart(let machine) = transferProtocol {
      let record = captures.first { $0.name == "allocate.\(S3Multipart.partSizeCapture)" }
      guard let record, machine.continues(record.value, size: known.size) else {
        return "the parts that the server has were sent with another 'part_size'"
      }
    }
    // The only transfer of a file is not forgotten (`needsDecision`).
    guard transfer.repeatability != .once || known.state == .allocated else { return nil }
    return missingCapture(captured, known)
  }

  /// The reason why the next steps cannot be sent with the captured values; `nil` if they can.
  private func missingCapture(_ captured: [String], _ known: Reconciliation.Known) -> String? {
    let next: [Step]
    switch known.state {
    case .allocated where allocate == nil: return "the manifest no longer allocates upload IDs"
    case .allocated: next = [transfer] + [commit].compactMap(\.self)
    case .transferred: next = [commit].compactMap(\.self)
    case .queued, .done, .failed, .ambiguous, .cancelled: return nil
    }
    return Self.missing(in: next, among: captured, isTransferred: known.state == .transferred)
      .map { "the steps need ${\($0)}, which was not captured" }
  }

  /// The name of a capture that the steps after a transfer need, and that is not among the captured values; `nil` if
  /// there is none.
  func captureMissing(afterTransferWith values: ItemValues) -> String? {
    let captured =
      values.allocate.map { "allocate.\($0.name)" } + values.transfer.map { "transfer.\($0.name)" }
    return Self.missing(in: [commit, probe].compactMap(\.self), among: captured, isTransferred: true)
  }

  private static func missing(in steps: [Step], among captured: [String], isTransferred: Bool) -> String? {
    for reference in steps.flatMap(\.request.references) {
      let name: String
      switch reference {
      case .allocate(let capture): name = "allocate.\(capture)"
      case .transfer(let capture) where isTransferred: name = "transfer.\(capture)"
      case .secret, .file, .item, .token, .transfer, .request, .run: continue
      }
      if !captured.contains(name) { return name }
    }
    return nil
  }
}
