/// Resumable uploads for HTTP, the IETF draft draft-ietf-httpbis-resumable-upload.
///
/// The first request is the one that the manifest declares. A server that supports the protocol assigns an upload
/// resource to it, in a 104 response while the request is being sent or in the final response. From then on, a HEAD of
/// that resource asks for the offset, a PATCH appends bytes, and a DELETE cancels the upload.
package struct Resumable: Hashable, Codable, Sendable {
  /// The maximum number of bytes in a request; `nil` for the whole rest of the file.
  package var chunkSize: Int64?
  /// The value of `Upload-Draft-Interop-Version`, which states the iteration of the draft.
  package var interopVersion: Int

  package init(chunkSize: Int64? = nil, interopVersion: Int = Resumable.defaultInteropVersion) {
    self.chunkSize = chunkSize
    self.interopVersion = interopVersion
  }

  /// The interop version of drafts 04 and 05, which deployed servers support.
  package static let defaultInteropVersion = 6

  /// The name of the `allocate` capture that contains the upload resource assigned by the server.
  package static let resourceCapture = "resource"
}

extension Resumable: TransferMachine {
  package var asksAfterLoss: Bool { true }
  package var isCompleteAtEnd: Bool { false }
  package var followsLocation: Bool { false }
  package var assignsResource: Bool { true }

  package func longestRequest(size: Int64) -> Int64 { min(size, chunkSize ?? size) }

  package func requestCount(size: Int64) -> Int64 {
    guard size > 0, let chunkSize else { return 1 }
    return (size - 1) / chunkSize + 1
  }

  package func next(_ state: TransferState, size: Int64) -> TransferOperation {
    let limit = state.limit ?? UploadLimit()
    guard state.hasResource else {
      return .create(0..<limit.length(chunkSize: chunkSize, remaining: size))
    }
    if state.isUncertain { return .queryOffset }
    // If the server has all bytes, an empty part completes the upload, or repeats the response to the completed upload.
    let start = state.confirmedOffset
    return .send(start..<start + limit.length(chunkSize: chunkSize, remaining: size - start))
  }

  package func request(for operation: TransferOperation, size: Int64) -> OperationRequest {
    var request = OperationRequest()
    request.set("Upload-Draft-Interop-Version", "\(interopVersion)")
    switch operation {
    case .whole: break
    case .create(let range):
      setComplete(range.upperBound == size, &request)
      request.set("Upload-Length", "\(size)")
    case .queryOffset, .queryPart, .listParts:
      request.method = "HEAD"
      request.isForResource = true
    case .send(let range):
      request.method = "PATCH"
      request.isForResource = true
      setComplete(range.upperBound == size, &request)
      request.set("Upload-Offset", "\(range.lowerBound)")
      // Earlier iterations of the draft define no media type.
      if interopVersion >= 6 { request.set("Content-Type", "application/partial-upload") }
    }
    return request
  }

  private func setComplete(_ isComplete: Bool, _ request: inout OperationRequest) {
    if interopVersion == 3 {
      request.set("Upload-Incomplete", isComplete ? "?0" : "?1")
    } else {
      request.set("Upload-Complete", isComplete ? "?1" : "?0")
    }
  }

  package func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    guard let offset = reading.offset else {
      return state.advance(to: nil, after: operation, size: size, isCompleteAtEnd: false)
    }
    let before = state.confirmedOffset
    let progress = state.advance(to: offset, after: operation, size: size, isCompleteAtEnd: false)
    switch (operation, progress) {
    // The draft does not allow the offset to decrease, but no byte is lost if it does.
    case (.queryOffset, .stalled): return offset < before ? progress : .proceeds
    case (_, .complete), (_, .proceeds), (_, .stalled), (_, .contradicts): return progress
    }
  }
}
