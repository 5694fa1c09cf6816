import FerryManifest

/// Upload sessions whose requests state the position of their bytes in `Content-Range` (RFC 9110, section 14.4).
///
/// Google (Drive, YouTube, Cloud Storage), Microsoft (Graph, OneDrive) and the registries of the Open Container
/// Initiative define such sessions. The response to `allocate` contains the URL of the session.
package struct ContentRange: Hashable, Codable, Sendable {
  /// The form of `Content-Range` in requests.
  package enum Form: String, Codable, Sendable {
    /// `bytes 0-99/1000`. A response with a status of success completes the upload.
    case bytes
    /// `0-99` (OCI). The upload is complete once the server has all bytes.
    case bare
  }

  /// The number of bytes in each request except the last one.
  package var chunkSize: Int64
  package var form: Form
  package var offsetQuery: Upload.Transfer.OffsetQuery

  package init(chunkSize: Int64, form: Form, offsetQuery: Upload.Transfer.OffsetQuery) {
    self.chunkSize = chunkSize
    self.form = form
    self.offsetQuery = offsetQuery
  }
}

extension ContentRange: TransferMachine {
  package var asksAfterLoss: Bool { true }
  package var isCompleteAtEnd: Bool { form == .bare }
  package var followsLocation: Bool { form == .bare }

  package func longestRequest(size: Int64) -> Int64 { min(size, chunkSize) }

  package func requestCount(size: Int64) -> Int64 { size == 0 ? 1 : (size - 1) / chunkSize + 1 }

  package func next(_ state: TransferState, size: Int64) -> TransferOperation {
    // If the server has all bytes and has not completed the upload, the query lets the server complete it.
    if state.isUncertain || (state.confirmedOffset == size && size > 0) { return .queryOffset }
    return .send(state.confirmedOffset..<min(size, state.confirmedOffset +| chunkSize))
  }

  package func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    state.advance(to: reading.offset, after: operation, size: size, isCompleteAtEnd: isCompleteAtEnd)
  }
}
