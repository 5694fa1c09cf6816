/// The state of a partial upload, which has one part of the file's bytes.
package struct PartialUpload: Hashable, Sendable {
  /// Whether the server has created the partial upload.
  package var isCreated = false
  /// Whether the server must be asked how many bytes of the partial upload it has.
  package var isUncertain = false
  /// Whether a request for the partial upload is being sent.
  package var isBusy = false
  /// The number of bytes, counted from the start of the part, that the server has, according to its responses.
  package var offset: Int64 = 0
  /// The end of the last byte that requests have sent, counted from the start of the part; `nil` if an earlier launch may
  /// have sent any byte.
  package var sentThrough: Int64? = 0
  /// The time at which the partial upload expires; `nil` if the server has stated none.
  package var expires: Instant?
}

/// The concatenation extension of tus: the parts of a file are partial uploads, which are sent at the same time. A
/// last request concatenates them. That request is the `commit` step of the upload.
extension Tus {
  package var concatenates: Bool { parallelRequests > 1 }

  /// The name of the capture with the URLs of all partial uploads of a file, separated by spaces.
  package static let concatenationCapture = "concatenation"

  /// Whether an upload can be continued.
  ///
  /// - Parameter partialUploads: the URLs of its partial uploads, separated by spaces; `nil` if it has none.
  package func continues(partialUploads: String?, size: Int64) -> Bool {
    guard let partialUploads, concatenates else { return partialUploads == nil && !concatenates }
    return partialUploads.split(separator: " ").count == partCount(size)
  }

  /// The size of each part except the last one, in bytes.
  private func partLength(of size: Int64) -> Int64 {
    let count = Int64(parallelRequests)
    return size < max(threshold, count) ? size : (size - 1) / count + 1
  }

  /// The number of parts of a file. An empty file is one empty part.
  package func partCount(_ size: Int64) -> Int {
    size == 0 ? 1 : Int((size - 1) / partLength(of: size)) + 1
  }

  package func range(ofPart number: Int, size: Int64) -> Range<Int64> {
    let start = Int64(number - 1) * partLength(of: size)
    return start..<min(size, start + partLength(of: size))
  }

  private func number(ofPartAt offset: Int64, size: Int64) -> Int {
    size == 0 ? 1 : Int(offset / partLength(of: size)) + 1
  }

  private func number(of operation: TransferOperation, size: Int64) -> Int {
    switch operation {
    case .whole, .queryOffset, .listParts: 1
    case .queryPart(let number): number
    case .create(let range), .send(let range): number(ofPartAt: range.lowerBound, size: size)
    }
  }

  package var commitNamesResources: Bool { concatenates }

  package func resourceCount(size: Int64) -> Int { concatenates ? partCount(size) : 1 }

  package func resourceNumber(of operation: TransferOperation, size: Int64) -> Int {
    concatenates ? number(of: operation, size: size) : 1
  }

  private func partials(_ state: TransferState, size: Int64) -> [PartialUpload] {
    guard state.partials.isEmpty else { return state.partials }
    let partial = PartialUpload(
      isCreated: state.hasResource, isUncertain: state.hasResource, sentThrough: state.hasResource ? nil : 0)
    return Array(repeating: partial, count: partCount(size))
  }

  private func change(
    _ operation: TransferOperation, in state: inout TransferState, size: Int64,
    _ body: (inout PartialUpload) -> Void
  ) {
    state.partials = partials(state, size: size)
    body(&state.partials[number(of: operation, size: size) - 1])
  }

  // MARK: Requests

  /// The next request for a partial upload that has no request in progress; `nil` if there is none, or if
  /// other requests must end first.
  ///
  /// Bytes are sent only when the server has created all partial uploads, and its response to a query of the
  /// first one has shown that it supports the extension. A server without the extension would take each part
  /// for a file.
  private func available(_ state: TransferState, size: Int64) -> TransferOperation? {
    let partials = partials(state, size: size)
    if let index = partials.firstIndex(where: { !$0.isCreated && !$0.isBusy }) {
      let start = range(ofPart: index + 1, size: size).lowerBound
      return .create(start..<start)
    }
    guard state.hasResource else { return nil }
    if partials[0].isUncertain { return partials[0].isBusy ? nil : .queryPart(1) }
    for (index, partial) in partials.enumerated() where !partial.isBusy {
      if partial.isUncertain { return .queryPart(index + 1) }
      let part = range(ofPart: index + 1, size: size)
      let start = part.lowerBound + partial.offset
      if start < part.upperBound { return .send(start..<min(part.upperBound, start +| (chunkSize ?? size))) }
    }
    return nil
  }

  func nextPartial(_ state: TransferState, size: Int64) -> TransferOperation {
    available(state, size: size) ?? .queryPart(1)
  }

  package func hasFurther(_ state: TransferState, size: Int64) -> Bool {
    concatenates && available(state, size: size) != nil
  }

  package func begin(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    if concatenates { change(operation, in: &state, size: size) { $0.isBusy = true } }
  }

  package func end(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    guard concatenates else { return }
    let start = range(ofPart: number(of: operation, size: size), size: size).lowerBound
    let requestEnd = state.requestEnd
    change(operation, in: &state, size: size) { partial in
      partial.isBusy = false
      guard case .send(let range) = operation else { return }
      partial.sentThrough = partial.sentThrough.map { max($0, (requestEnd ?? range.upperBound) - start) }
    }
  }

  package func lose(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    guard operation.range != nil else { return }
    guard concatenates else { return state.isUncertain = true }
    // A creation whose response was lost is repeated.
    if case .send = operation { change(operation, in: &state, size: size) { $0.isUncertain = true } }
  }

  /// The size of a partial upload, and the offset of an operation in it, as requests state them.
  func relative(_ operation: TransferOperation, size: Int64) -> (length: Int64, offset: Int64) {
    let part = range(ofPart: number(of: operation, size: size), size: size)
    return (part.upperBound - part.lowerBound, (operation.range?.lowerBound ?? size) - part.lowerBound)
  }

  // MARK: Responses

  /// Whether a response to this operation must show that the server supports the extension.
  func mustShowConcatenation(_ operation: TransferOperation, size: Int64) -> Bool {
    operation == .queryPart(1) && partCount(size) > 1
  }

  func applyPartial(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    let number = number(of: operation, size: size)
    let part = range(ofPart: number, size: size)
    if case .create = operation {
      let mustAsk = mustShowConcatenation(.queryPart(number), size: size) || part.isEmpty
      change(operation, in: &state, size: size) {
        $0.isCreated = true
        $0.isUncertain = mustAsk
      }
      return .proceeds
    }
    var single = TransferState(isUncertain: true)
    state.partials = partials(state, size: size)
    single.confirmedOffset = state.partials[number - 1].offset
    single.sentThrough = state.partials[number - 1].sentThrough
    single.requestEnd = state.requestEnd.map { $0 - part.lowerBound }
    let progress = single.advance(
      to: reading.offset, after: shifted(operation, by: -part.lowerBound),
      size: part.upperBound - part.lowerBound, isCompleteAtEnd: true)
    if case .contradicts = progress { return progress }
    state.confirmedOffset += single.confirmedOffset - state.partials[number - 1].offset
    state.partials[number - 1].offset = single.confirmedOffset
    state.partials[number - 1].isUncertain = false
    guard progress == .complete else { return progress }
    let isComplete = state.confirmedOffset == size && state.partials.allSatisfy { !$0.isUncertain }
    return isComplete ? .complete : .proceeds
  }

  /// The operation as part of a single upload: a range is shifted by `offset`, and all other operations
  /// become `queryOffset`.
  private func shifted(_ operation: TransferOperation, by offset: Int64) -> TransferOperation {
    switch operation {
    case .send(let range): .send(range.lowerBound + offset..<range.upperBound + offset)
    case .whole, .create, .queryOffset, .queryPart, .listParts: .queryOffset
    }
  }
}
