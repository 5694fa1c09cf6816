import FerryManifest

/// An upload protocol that sends a file in several requests, as a pure state machine.
///
/// The scheduler admits the operations, and the engine sends them. Neither knows the protocols.
package protocol TransferMachine: Sendable {
  /// The next request of a transfer that has not completed.
  ///
  /// - Parameter size: the size of the file, in bytes.
  func next(_ state: TransferState, size: Int64) -> TransferOperation

  /// The maximum number of requests for one file at the same time.
  var parallelRequests: Int { get }

  /// Whether a further request can be sent while others are being sent.
  func hasFurther(_ state: TransferState, size: Int64) -> Bool

  /// Records that a request is being sent.
  func begin(_ operation: TransferOperation, in state: inout TransferState, size: Int64)

  /// Records that a request has ended, before its response is applied.
  func end(_ operation: TransferOperation, in state: inout TransferState, size: Int64)

  /// Records that it is unknown how many of the bytes that an operation sent have reached the server.
  func lose(_ operation: TransferOperation, in state: inout TransferState, size: Int64)

  /// Whether the commit of a file names the file's upload resources.
  var commitNamesResources: Bool { get }

  /// The number of upload resources of a file. Each has its own URL.
  func resourceCount(size: Int64) -> Int

  /// The number of the upload resource, counted from 1, that an operation creates or uses.
  func resourceNumber(of operation: TransferOperation, size: Int64) -> Int

  /// The maximum number of the file's bytes in a request.
  func longestRequest(size: Int64) -> Int64

  /// The number of requests for a file of this size if nothing interrupts them.
  func requestCount(size: Int64) -> Int64

  /// The request of an operation.
  ///
  /// - Parameter size: the size of the file, in bytes.
  func request(for operation: TransferOperation, size: Int64) -> OperationRequest

  /// Reads a response to an operation.
  ///
  /// - Parameter size: the size of the file, in bytes.
  func read(_ response: any OperationResponse, to operation: TransferOperation, size: Int64)
    -> TransferReading

  /// Applies the reading of a response to the state of its transfer.
  ///
  /// - Parameters:
  ///   - reading: `offset`, `part`, `parts`, or a reading of the response to a completed upload.
  ///   - size: the size of the file, in bytes.
  func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress

  /// Whether, after a request with an unknown outcome, the server must be asked which bytes it has. If not,
  /// the request is sent again.
  var asksAfterLoss: Bool { get }

  /// Whether an upload is complete as soon as the server states that it has all bytes.
  var isCompleteAtEnd: Bool { get }

  /// Whether the server assigns an upload resource to the request that sends the first bytes of the file.
  var assignsResource: Bool { get }

  /// Whether the request to which the server assigns an upload resource can be sent again if its response is lost.
  var repeatsCreation: Bool { get }

  /// Whether the server may remove the upload resource of a completed upload immediately, so that its absence
  /// does not show that the file was not delivered.
  var mayForgetCompleted: Bool { get }

  /// The URL of the upload resource that a response to an operation assigns, absolute or relative; `nil` if it assigns
  /// none. The response may be an interim response.
  func resource(in response: any OperationResponse, to operation: TransferOperation) -> String?

  /// The limits that a response states; `nil` if it states none.
  func limit(in response: any OperationResponse) -> UploadLimit?

  /// Whether the `Location` of a successful response is the URL of the next request.
  var followsLocation: Bool { get }
}

extension TransferMachine {
  package var parallelRequests: Int { 1 }
  package func hasFurther(_ state: TransferState, size: Int64) -> Bool { false }
  package func begin(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {}
  package func end(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {}
  package func lose(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    if operation.range != nil, asksAfterLoss { state.isUncertain = true }
  }
  package var commitNamesResources: Bool { false }
  package func resourceCount(size: Int64) -> Int { 1 }
  package func resourceNumber(of operation: TransferOperation, size: Int64) -> Int { 1 }
  package var assignsResource: Bool { false }
  package var repeatsCreation: Bool { !assignsResource }
  package var mayForgetCompleted: Bool { assignsResource }
  package func resource(in response: any OperationResponse, to operation: TransferOperation) -> String? {
    nil
  }
  package func limit(in response: any OperationResponse) -> UploadLimit? { nil }
}

/// The effect of a response on its transfer.
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
  /// The file is sent in one request.
  case whole
  case contentRange(ContentRange)
  case tus(Tus)
  case resumable(Resumable)
  case s3Multipart(S3Multipart)

  /// Whether a file of this size is delivered by its transfer alone, without the upload's other steps.
  package func isDeliveredByTransfer(size: Int64) -> Bool {
    switch self {
    case .s3Multipart(let machine): machine.isSingle(size)
    case .whole, .contentRange, .tus, .resumable: false
    }
  }

  /// The protocol's state machine; `nil` for a single request.
  package var machine: (any TransferMachine)? {
    switch self {
    case .whole: nil
    case .contentRange(let machine): machine
    case .tus(let machine): machine
    case .resumable(let machine): machine
    case .s3Multipart(let machine): machine
    }
  }

  /// The protocol's name in a manifest; `nil` for a single request.
  package var name: Upload.Transfer.`Protocol`? {
    switch self {
    case .whole: nil
    case .contentRange: .contentRange
    case .tus: .tus
    case .resumable: .resumable
    case .s3Multipart: .s3Multipart
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
          chunkSize: transfer.chunkSize ?? Upload.Transfer.defaultChunkSize, form: isBare ? .bare : .bytes,
          offsetQuery: transfer.offsetQuery ?? (isBare ? .get : .put)))
    case .tus:
      // A server discards a whole part whose checksum does not match, so a part must not be the whole of a large file.
      let bound = transfer.checksum == nil ? nil : Upload.Transfer.defaultChunkSize
      self = .tus(
        Tus(
          chunkSize: transfer.chunkSize ?? bound, checksum: transfer.checksum,
          createsWithBytes: transfer.creation == .withUpload, parallelRequests: transfer.parallelParts ?? 1,
          threshold: transfer.threshold ?? Upload.Transfer.defaultThreshold))
    case .resumable:
      self = .resumable(
        Resumable(
          chunkSize: transfer.chunkSize,
          interopVersion: transfer.interopVersion ?? Resumable.defaultInteropVersion))
    case .s3Multipart:
      self = .s3Multipart(
        S3Multipart(
          partSize: transfer.partSize ?? S3Multipart.defaultPartSize,
          threshold: transfer.threshold ?? Upload.Transfer.defaultThreshold,
          parallelRequests: transfer.parallelParts ?? S3Multipart.defaultParallelParts,
          checksum: transfer.checksum))
    case .put, .post, .multipartForm: self = .whole
    }
  }
}
