import FerryDigest
import FerryManifest

/// The protocol tus 1.0.0 for resumable uploads (https://tus.io/protocols/resumable-upload).
///
/// A POST of the creation URL creates the upload, and its response states the upload's URL in `Location`. A PATCH of
/// that URL appends bytes, a HEAD asks for the offset, and a DELETE terminates the upload. If the POST sends no bytes
/// of the file, it is the `allocate` step of the upload; otherwise (creation-with-upload), it is the first request of
/// the transfer, and the upload's URL is an upload resource.
package struct Tus: Hashable, Codable, Sendable {
  /// The maximum number of bytes in a request; `nil` for the whole rest of the file.
  package var chunkSize: Int64?

  /// The checksum that is sent with each part; `nil` for none.
  package var checksum: Upload.Transfer.Checksum?
  /// Whether the request that creates the upload sends the first bytes of the file.
  package var createsWithBytes: Bool
  /// The maximum number of requests for one file at the same time. If it is greater than 1, the file is sent in partial
  /// uploads.
  package var parallelRequests: Int
  /// The minimum size of a file that is sent in several partial uploads, in bytes.
  package var threshold: Int64

  package init(
    chunkSize: Int64? = nil, checksum: Upload.Transfer.Checksum? = nil, createsWithBytes: Bool = false,
    parallelRequests: Int = 1, threshold: Int64 = Upload.Transfer.defaultThreshold
  ) {
    self.chunkSize = chunkSize
    self.checksum = checksum
    self.createsWithBytes = createsWithBytes
    self.parallelRequests = parallelRequests
    self.threshold = threshold
  }

  /// The version that every request states.
  package static let version = "1.0.0"
}

extension Tus: TransferMachine {
  package var asksAfterLoss: Bool { true }
  package var isCompleteAtEnd: Bool { true }
  package var followsLocation: Bool { false }
  package var assignsResource: Bool { createsWithBytes || concatenates }
  // The creation of an upload can be repeated: the upload whose URL is unknown remains unused.
  package var repeatsCreation: Bool { true }
  package var mayForgetCompleted: Bool { false }

  package func longestRequest(size: Int64) -> Int64 {
    let part = concatenates ? range(ofPart: 1, size: size).upperBound : size
    return min(part, chunkSize ?? part)
  }

  package func requestCount(size: Int64) -> Int64 {
    guard concatenates else { return Self.requests(for: size, chunkSize) }
    return (1...partCount(size)).reduce(0) { count, number in
      let part = range(ofPart: number, size: size)
      return count + Self.requests(for: part.upperBound - part.lowerBound, chunkSize)
    }
  }

  private static func requests(for length: Int64, _ chunkSize: Int64?) -> Int64 {
    guard length > 0, let chunkSize else { return 1 }
    return (length - 1) / chunkSize + 1
  }

  package func next(_ state: TransferState, size: Int64) -> TransferOperation {
    if concatenates { return nextPartial(state, size: size) }
    if !state.hasResource { return .create(0..<min(size, chunkSize ?? size)) }
    // The upload of an empty file is complete when it is created.
    if state.isUncertain || state.confirmedOffset == size { return .queryOffset }
    return .send(state.confirmedOffset..<min(size, state.confirmedOffset +| (chunkSize ?? size)))
  }

  package func request(for operation: TransferOperation, size: Int64) -> OperationRequest {
    var request = OperationRequest()
    request.set("Tus-Resumable", Self.version)
    switch operation {
    case .whole: break
    case .create(let range):
      request.method = "POST"
      request.set("Upload-Length", "\(concatenates ? relative(operation, size: size).length : size)")
      if concatenates { request.set("Upload-Concat", "partial") }
      if !range.isEmpty { setBytes(&request) }
    case .queryOffset, .queryPart, .listParts:
      request.method = "HEAD"
      request.isForResource = assignsResource
    case .send(let range):
      if assignsResource { request.method = "PATCH" }
      request.isForResource = assignsResource
      let offset = concatenates ? relative(operation, size: size).offset : range.lowerBound
      request.set("Upload-Offset", "\(offset)")
      setBytes(&request)
    }
    return request
  }

  private func setBytes(_ request: inout OperationRequest) {
    request.set("Content-Type", "application/offset+octet-stream")
    request.checksum = checksum.map {
      .init(field: "Upload-Checksum", prefix: "\($0.rawValue) ", algorithm: $0.algorithm)
    }
  }

  package func read(
    _ response: any OperationResponse, to operation: TransferOperation, size: Int64
  ) -> TransferReading {
    switch response.status {
    case 200...299:
      if let problem = lengthProblem(response, operation, size: size) { return .foreign(problem) }
      let isPartial = response.values(of: "Upload-Concat").first?.lowercased() == "partial"
      if !isPartial, mustShowConcatenation(operation, size: size) {
        return .malformed(
          "'parallel_parts' requires the concatenation extension of tus, which the server does not implement")
      }
      let fields = response.values(of: "Upload-Offset")
      guard let field = fields.first else {
        // The server has created the upload without the bytes.
        if case .create = operation { return .offset(0) }
        return .malformed("the response has no Upload-Offset")
      }
      guard fields.allSatisfy({ $0 == field }), let offset = Int64(digits: field) else {
        return .malformed("the Upload-Offset of the response is malformed")
      }
      // The response that completes the upload is judged by `expect`.
      if !concatenates, let range = operation.range, range.upperBound == size, offset == size {
        return .other
      }
      return .offset(offset)
    case 403, 404, 410:
      // There is no upload yet.
      if case .create = operation { return .other }
      // The upload has expired, or has been terminated.
      return .gone
    // The server has another offset, another request holds a lock, or a checksum does not match.
    case 409, 423, 460: return .refused
    default: return .other
    }
  }

  /// The reason why the upload cannot belong to the file; `nil` if it can belong to the file.
  private func lengthProblem(
    _ response: any OperationResponse, _ operation: TransferOperation, size: Int64
  ) -> String? {
    let length: Int64
    switch operation {
    case .queryOffset: length = size
    case .queryPart: length = relative(operation, size: size).length
    case .whole, .create, .send, .listParts: return nil
    }
    if let field = response.values(of: "Upload-Length").first, Int64(digits: field) != length {
      return concatenates
        ? "the server states an upload length that differs from the part's \(length) bytes"
        : "the server states an upload length that differs from the file's \(size) bytes"
    }
    return nil
  }

  package func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    if concatenates { return applyPartial(reading, of: operation, to: &state, size: size) }
    // A server may ignore the bytes in the request that creates the upload.
    if case .create = operation, reading.offset == 0, size > 0 {
      state.isUncertain = false
      return .proceeds
    }
    return state.advance(to: reading.offset, after: operation, size: size, isCompleteAtEnd: true)
  }

  package func resource(in response: any OperationResponse, to operation: TransferOperation) -> String? {
    guard case .create = operation, 200...299 ~= response.status else { return nil }
    return response.values(of: "Location").first
  }
}
