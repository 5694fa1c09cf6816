/// Reads the responses to the requests of a resumable upload.
extension Resumable {
  package func read(
    _ response: any OperationResponse, to operation: TransferOperation, size: Int64
  ) -> TransferReading {
    let fields = Fields(response, interopVersion)
    if case .send(let range) = operation, range.isEmpty, isCompleted(response) { return .completedEarlier }
    if fields.isComplete == true, operation != .queryOffset { return complete(fields, operation, size: size) }
    switch (operation, response.status) {
    case (.create(let range), 200...299): return readCreation(fields, of: range, size: size)
    case (.send(let range), 200...299): return readPart(fields, of: range, size: size)
    case (.queryOffset, 200...299): return readQuery(fields, response, size: size)
    case (.send, _) where isCompleted(response):
      return .damaged("the server states that the upload has already been completed")
    // The server has another offset, or another request holds a lock.
    case (.send, 409), (.send, 423), (.queryOffset, 409), (.queryOffset, 423): return .refused
    case (.send, 404), (.send, 410), (.queryOffset, 404), (.queryOffset, 410): return .gone
    // Smaller parts may be accepted.
    case (.send(let range), 413), (.create(let range), 413):
      guard let most = limit(in: response)?.maxAppendSize, most < range.upperBound - range.lowerBound else {
        return .other
      }
      return .refused
    default: return .other
    }
  }

  package func limit(in response: any OperationResponse) -> UploadLimit? {
    UploadLimit(fields: response.values(of: "Upload-Limit"))
  }

  package func resource(in response: any OperationResponse, to operation: TransferOperation) -> String? {
    guard case .create = operation, let location = response.values(of: "Location").first else { return nil }
    let fields = Fields(response, interopVersion)
    switch response.status {
    // A response to another iteration of the draft must be ignored.
    case 104: return fields.hasVersion ? location : nil
    // After a completed upload, and in the response of a server that ignores the protocol, Location has another meaning.
    case 200...299: return fields.isComplete != true && fields.isOfProtocol ? location : nil
    default: return nil
    }
  }

  /// The fields of a response that belong to the protocol. A field with an invalid value is ignored.
  private struct Fields {
    var isComplete: Bool?
    var offset: Int64?
    /// Whether the response states the interop version of the request.
    var hasVersion: Bool
    /// Whether any field shows that the server supports the protocol.
    var isOfProtocol: Bool

    init(_ response: any OperationResponse, _ version: Int) {
      func item(_ name: String) -> StructuredField.Item? {
        let values = response.values(of: name)
        return values.count == 1 ? StructuredField.item(values[0]) : nil
      }
      if version == 3 {
        if case .boolean(let value) = item("Upload-Incomplete") { isComplete = !value }
      } else if case .boolean(let value) = item("Upload-Complete") {
        isComplete = value
      }
      if case .integer(let value) = item("Upload-Offset"), value >= 0 { offset = value }
      hasVersion = item("Upload-Draft-Interop-Version") == .integer(Int64(version))
      isOfProtocol =
        isComplete != nil || offset != nil || hasVersion || !response.values(of: "Upload-Limit").isEmpty
    }
  }

  /// Reads the response of the resource to which the file was uploaded.
  private func complete(_ fields: Fields, _ operation: TransferOperation, size: Int64) -> TransferReading {
    if let offset = fields.offset, offset != size {
      return .malformed("the server completed the upload after \(offset) of \(size) bytes")
    }
    return .completed
  }

  private func readCreation(_ fields: Fields, of range: Range<Int64>, size: Int64) -> TransferReading {
    if let offset = fields.offset, offset != size || fields.isComplete == false { return .offset(offset) }
    if fields.isComplete == false { return .offset(range.upperBound) }
    // The server has accepted the whole file, or has ignored the protocol.
    if range.upperBound == size { return .other }
    guard fields.isOfProtocol else {
      return .malformed(
        "the server does not support resumable uploads, and treated the first \(range.upperBound) of \(size) bytes as the "
          + "whole file; remove 'chunk_size'")
    }
    return .offset(range.upperBound)
  }

  private func readPart(_ fields: Fields, of range: Range<Int64>, size: Int64) -> TransferReading {
    if let offset = fields.offset, offset != size || fields.isComplete == false || range.upperBound < size {
      return .offset(offset)
    }
    guard range.upperBound == size, fields.isComplete != false else { return .offset(range.upperBound) }
    // Another server, such as a proxy, may have responded. An empty request follows the statement of the server that it has
    // all bytes.
    guard fields.isOfProtocol || range.isEmpty else {
      return .damaged(
        "the response to the end of the file does not show that the server has completed the upload")
    }
    return .other
  }

  private func readQuery(
    _ fields: Fields, _ response: any OperationResponse, size: Int64
  ) -> TransferReading {
    guard let offset = fields.offset else { return .malformed("the response has no valid Upload-Offset") }
    let lengths = response.values(of: "Upload-Length")
    if lengths.count == 1, case .integer(let length) = StructuredField.item(lengths[0]), length != size {
      return .foreign("the server states an upload length that differs from the file's \(size) bytes")
    }
    if fields.isComplete == true, offset != size {
      return .malformed("the server completed the upload after \(offset) of \(size) bytes")
    }
    return .offset(offset)
  }

  /// Whether a problem document states that the upload had already been completed.
  private func isCompleted(_ response: any OperationResponse) -> Bool {
    400...499 ~= response.status
      && response.string(at: "/type") == "https://iana.org/assignments/http-problem-types#completed-upload"
  }
}
