import FerryManifest

/// An upload protocol that sends a file in several requests, as a pure state machine.
///
/// The scheduler admits the operations, but does not know the protocols.
package protocol TransferMachine: Sendable {
  /// The next request of a transfer that has not completed.
  ///
  /// - Parameter size: the size of the file, in bytes.
  func next(_ state: TransferState, size: Int64) -> TransferOperation

  /// The number of requests for a file of this size if nothing interrupts them.
  func requestCount(size: Int64) -> Int64

  /// Applies a response that was not refused to the state of its transfer.
  ///
  /// - Parameters:
  ///   - offset: the offset that the response states; `nil` if the response is that to a completed upload.
  ///   - size: the size of the file, in bytes.
  func apply(
    _ offset: Int64?, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress
}

/// What a response means for its transfer.
package enum TransferProgress: Hashable, Sendable {
  /// The server has the whole file.
  case complete
  /// The transfer continues.
  case proceeds
  /// The server has not stored what was sent, or has lost what it had. The transfer continues after a wait.
  case stalled(String)
  /// The response contradicts the file or the requests. The transfer has failed.
  case contradicts(String)
}

/// How the transfers of an upload send their files.
package enum TransferProtocol: Hashable, Codable, Sendable {
  /// In one request.
  case whole
  case contentRange(ContentRange)

  /// The protocol's state machine; `nil` for a single request.
  package var machine: (any TransferMachine)? {
    switch self {
    case .whole: nil
    case .contentRange(let machine): machine
    }
  }
}

extension TransferProtocol {
  init(_ transfer: Upload.Transfer) {
    switch transfer.protocol {
    case .contentRange:
      let isBare = transfer.request.method == "PATCH"
      self = .contentRange(
        ContentRange(
          chunkSize: transfer.chunkSize, form: isBare ? .bare : .bytes,
          offsetQuery: transfer.offsetQuery ?? (isBare ? .get : .put)))
    case .put, .post, .multipartForm, .tus, .resumable, .s3Multipart: self = .whole
    }
  }
}
