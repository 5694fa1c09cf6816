/// The state of a transfer that sends its file in several requests, under one upload ID in one launch.
///
/// It is not journaled: after an interruption, the server states its offset again.
package struct TransferState: Hashable, Sendable {
  /// The number of the file's bytes that the server has confirmed. They are the first bytes of the file,
  /// unless the protocol sends several parts at the same time.
  package var confirmedOffset: Int64 = 0
  /// Whether the server may have a different offset, because an earlier launch may have sent bytes or a request has
  /// failed. The server is then asked for its offset before more bytes are sent.
  package var isUncertain: Bool

  /// The end of the last byte that requests have sent, counted from the start of the file; `nil` if an
  /// earlier launch may have sent any byte. The server cannot have bytes beyond this position.
  package var sentThrough: Int64?
  /// The end of the last byte in a request that the server refused, before it had confirmed any byte of this upload. A gateway
  /// may have sent the request twice, so that the server has these bytes, or the upload may belong to another file.
  package var refusedThrough: Int64 = 0
  /// While the response to a request is applied: the end of the last byte that the request has sent; `nil` if unknown.
  package var requestEnd: Int64?

  /// The parts that the server has, for protocols with numbered parts.
  package var parts = PartSet()
  /// The parts that requests are sending.
  package var sending = PartSet()
  /// The number of the last part that the server has listed; 0 before its first list.
  package var listedThrough = 0
  /// The partial uploads that the server will concatenate; empty before the first request, and for transfers
  /// without partial uploads.
  package var partials: [PartialUpload] = []
  /// Whether the server has assigned an upload resource, if its protocol assigns one.
  package var hasResource: Bool
  /// Whether the server may have completed the upload although ferry has not received the response.
  package var mayBeComplete = false
  /// The limits that the server has stated; `nil` if it has stated none.
  package var limit: UploadLimit?

  package init(isUncertain: Bool, hasResource: Bool = true) {
    self.isUncertain = isUncertain
    self.hasResource = hasResource
    sentThrough = isUncertain ? nil : 0
  }
}

extension TransferState {
  /// Applies a response to an operation.
  ///
  /// - Parameters:
  ///   - offset: the offset that the server has stated; `nil` for the response to a completed upload.
  ///   - size: the size of the file, in bytes.
  ///   - isCompleteAtEnd: whether an upload is complete as soon as the server has all bytes.
  mutating func advance(
    to offset: Int64?, after operation: TransferOperation, size: Int64, isCompleteAtEnd: Bool
  ) -> TransferProgress {
    let limit = limit(after: operation, size: size)
    guard let offset else {
      guard limit == size else {
        return .contradicts("the server completed the upload after \(limit) of \(size) bytes")
      }
      return .complete
    }
    guard (0...limit).contains(offset) else {
      return .contradicts("the server states that it has \(offset) bytes, but at most \(limit) were sent")
    }
    let before = confirmedOffset
    confirmedOffset = offset
    isUncertain = false
    if offset == size, isCompleteAtEnd { return .complete }
    switch operation {
    case .send(let range) where range.isEmpty && offset == size: return .stalled(Self.incomplete)
    case .send(let range) where offset <= range.lowerBound,
      .create(let range) where offset <= range.lowerBound:
      return .stalled("the server has stored none of the bytes that were sent to it")
    // Without this case, a server that stores one byte of each request would receive as many requests as the
    // file has bytes.
    case .send(let range) where range.isSlow(offset), .create(let range) where range.isSlow(offset):
      return .stalled(
        "the server has stored only \(offset - range.lowerBound) of the \(range.upperBound - range.lowerBound) bytes that "
          + "were sent to it")
    case .queryOffset where offset < before:
      return .stalled("the server had \(before) bytes, and states that it has \(offset)")
    case .queryOffset where offset == size && size > 0:
      return .stalled(Self.incomplete)
    case .create, .send, .queryOffset, .queryPart, .listParts, .whole: return .proceeds
    }
  }

  /// The maximum number of bytes that the server can have.
  private func limit(after operation: TransferOperation, size: Int64) -> Int64 {
    guard let range = operation.range else { return min(size, max(sentThrough ?? size, confirmedOffset)) }
    return min(range.upperBound, max(sentThrough ?? 0, requestEnd ?? range.upperBound))
  }

  private static let incomplete = "the server has all bytes, but has not completed the upload"
}

extension Range<Int64> {
  /// A request must advance an upload by at least this number of bytes, or by half of the bytes in the request.
  private static var leastAdvance: Int64 { 64 << 10 }

  /// Whether the server has stored so few of these bytes that the request counts as failed.
  ///
  /// - Parameter offset: the offset that the server has stated, within the range.
  fileprivate func isSlow(_ offset: Int64) -> Bool {
    let stored = offset - lowerBound
    return stored < Self.leastAdvance && stored < (upperBound - lowerBound) / 2
  }
}
