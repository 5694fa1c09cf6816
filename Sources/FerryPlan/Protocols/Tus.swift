import FerryDigest
import FerryManifest

/// The protocol tus 1.0.0 for resumable uploads (https://tus.io/protocols/resumable-upload).
///
/// A POST of the creation URL creates the upload, and its response states the upload's URL in `Location`. A PATCH of that
/// URL appends bytes, a HEAD asks for the offset, and a DELETE terminates the upload.
package struct Tus: Hashable, Codable, Sendable {
  /// The maximum number of bytes in a request; `nil` for the whole rest of the file.
  package var chunkSize: Int64?

  /// The checksum that is sent with each part; `nil` for none.
  package var checksum: Upload.Transfer.Checksum?

  package init(chunkSize: Int64? = nil, checksum: Upload.Transfer.Checksum? = nil) {
    self.chunkSize = chunkSize
    self.checksum = checksum
  }

  /// The version that every request states.
  package static let version = "1.0.0"
}

extension Tus: TransferMachine {
  package var asksAfterLoss: Bool { true }
  package var isCompleteAtEnd: Bool { true }
  package var followsLocation: Bool { false }

  package func longestRequest(size: Int64) -> Int64 { min(size, chunkSize ?? size) }

  package func requestCount(size: Int64) -> Int64 {
    guard size > 0, let chunkSize else { return 1 }
    return (size - 1) / chunkSize + 1
  }

  package func next(_ state: TransferState, size: Int64) -> TransferOperation {
    // The upload of an empty file is complete when it is created.
    if state.isUncertain || state.confirmedOffset == size { return .queryOffset }
    return .send(state.confirmedOffset..<min(size, state.confirmedOffset +| (chunkSize ?? size)))
  }

  package func request(for operation: TransferOperation, size: Int64) -> OperationRequest {
    var request = OperationRequest()
    request.set("Tus-Resumable", Self.version)
    switch operation {
    case .whole, .create: break
    case .queryOffset, .listParts: request.method = "HEAD"
    case .send(let range):
      request.set("Upload-Offset", "\(range.lowerBound)")
      request.set("Content-Type", "application/offset+octet-stream")
      request.checksum = checksum.map {
        .init(field: "Upload-Checksum", prefix: "\($0.rawValue) ", algorithm: $0.algorithm)
      }
    }
    return request
  }

  package func read(
    _ response: any OperationResponse, to operation: TransferOperation, size: Int64
  ) -> TransferReading {
    switch response.status {
    case 200...299:
      if operation == .queryOffset, let problem = lengthProblem(response, size: size) {
        return .malformed(problem)
      }
      let fields = response.values(of: "Upload-Offset")
      guard let field = fields.first else { return .malformed("the response has no Upload-Offset") }
      guard fields.allSatisfy({ $0 == field }), let offset = Int64(digits: field) else {
        return .malformed("the Upload-Offset of the response is malformed")
      }
      // The response that completes the upload is judged by `expect`.
      if case .send(let range) = operation, range.upperBound == size, offset == size { return .other }
      return .offset(offset)
    // The upload has expired, or has been terminated.
    case 403, 404, 410: return .gone
    // Another offset, a lock that another request holds, a checksum that does not match.
    case 409, 423, 460: return .refused
    default: return .other
    }
  }

  /// The reason why the upload is not that of the file; `nil` if it may be.
  private func lengthProblem(_ response: any OperationResponse, size: Int64) -> String? {
    guard let field = response.values(of: "Upload-Length").first, Int64(digits: field) != size else {
      return nil
    }
    return "the server states another length of the upload than the file's \(size) bytes"
  }

  package func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    state.advance(to: reading.offset, after: operation, size: size, isCompleteAtEnd: true)
  }
}
