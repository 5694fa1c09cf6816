import FerryManifest

/// Multipart uploads of Amazon S3 and compatible servers (`CreateMultipartUpload`, `UploadPart`, `ListParts`,
/// `CompleteMultipartUpload` in Amazon's API reference). Files below a threshold are sent in a single PUT.
package struct S3Multipart: Hashable, Codable, Sendable {
  /// The size of each part except the last one, in bytes, unless the file would have too many parts of this
  /// size.
  package var partSize: Int64
  /// The minimum size of a file that is sent in parts, in bytes.
  package var threshold: Int64
  /// The maximum number of parts of one file that are sent at the same time.
  package var parallelRequests: Int
  /// The checksum that is sent with each part; `nil` for none.
  package var checksum: Upload.Transfer.Checksum?

  package static let defaultParallelParts = 4
  package static let defaultPartSize: Int64 = 8 << 20
  /// The maximum number of parts of an upload.
  package static let mostParts: Int64 = 10_000

  package init(
    partSize: Int64 = defaultPartSize, threshold: Int64 = Upload.Transfer.defaultThreshold,
    parallelRequests: Int = defaultParallelParts, checksum: Upload.Transfer.Checksum? = nil
  ) {
    self.partSize = partSize
    self.threshold = threshold
    self.parallelRequests = parallelRequests
    self.checksum = checksum
  }

  /// The name of the capture that records the size of an upload's parts together with its upload ID.
  package static let partSizeCapture = "part_size"

  /// The value of the capture `partSizeCapture`. It contains the upload ID, and therefore identifies the
  /// upload as the ID itself does.
  package func partSizeRecord(size: Int64, uploadID: String) -> String {
    "\(partSize(of: size)) \(uploadID)"
  }

  /// Whether an upload whose parts have the recorded size can be continued. If the part size has changed, a
  /// new part may have the same number and size as an existing part, but contain other bytes of the file.
  package func continues(_ record: String, size: Int64) -> Bool {
    record.hasPrefix("\(partSize(of: size)) ")
  }

  /// Whether a file of this size is sent in a single PUT. An upload in parts needs at least one byte.
  package func isSingle(_ size: Int64) -> Bool { size < max(threshold, 1) }

  /// The size of each part except the last one: the declared size or, if the file would have too many parts,
  /// the smallest multiple of 1 MiB that avoids this.
  package func partSize(of size: Int64) -> Int64 {
    guard size > partSize *| Self.mostParts else { return partSize }
    let least = (size - 1) / Self.mostParts + 1
    return ((least - 1) >> 20 + 1) << 20
  }

  /// The number of parts of a file.
  package func partCount(_ size: Int64) -> Int { Int((size - 1) / partSize(of: size) + 1) }

  /// The number of the part that starts at an offset.
  package func number(ofPartAt offset: Int64, size: Int64) -> Int { Int(offset / partSize(of: size)) + 1 }

  private func range(ofPart number: Int, size: Int64) -> Range<Int64> {
    let start = Int64(number - 1) * partSize(of: size)
    return start..<min(size, start + partSize(of: size))
  }
}

extension S3Multipart: TransferMachine {
  package var asksAfterLoss: Bool { false }
  package var isCompleteAtEnd: Bool { true }
  package var followsLocation: Bool { false }

  package func longestRequest(size: Int64) -> Int64 { isSingle(size) ? size : min(size, partSize(of: size)) }

  package func requestCount(size: Int64) -> Int64 { isSingle(size) ? 1 : Int64(partCount(size)) }

  package func next(_ state: TransferState, size: Int64) -> TransferOperation {
    if isSingle(size) { return .whole }
    if state.isUncertain { return .listParts(after: state.listedThrough) }
    return .send(range(ofPart: state.parts.firstMissing(state.sending), size: size))
  }

  package func hasFurther(_ state: TransferState, size: Int64) -> Bool {
    !state.isUncertain && state.parts.firstMissing(state.sending) <= partCount(size)
  }

  package func begin(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    guard case .send(let range) = operation else { return }
    state.sending.insert(number(ofPartAt: range.lowerBound, size: size))
  }

  package func end(_ operation: TransferOperation, in state: inout TransferState, size: Int64) {
    guard case .send(let range) = operation else { return }
    state.sending.remove(number(ofPartAt: range.lowerBound, size: size))
  }

  package func request(for operation: TransferOperation, size: Int64) -> OperationRequest {
    var request = OperationRequest()
    if operation.isSending {
      request.checksum = checksum.map { .init(field: $0.fieldInS3, prefix: "", algorithm: $0.algorithm) }
    }
    switch operation {
    case .whole, .create, .queryOffset, .queryPart: return request
    case .listParts(let number):
      request.method = "GET"
      if number > 0 { request.query.append(.init(name: "part-number-marker", value: "\(number)")) }
    case .send(let range):
      let number = number(ofPartAt: range.lowerBound, size: size)
      request.query.append(.init(name: "partNumber", value: "\(number)"))
    }
    request.usesUploadID = true
    request.leavesOutObjectFields = true
    return request
  }

  /// Codes of errors that S3 reports with a 4xx status although the request is not at fault.
  private static let passingCodes = [
    "RequestTimeout", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "OperationAborted",
  ]

  package func read(
    _ response: any OperationResponse, to operation: TransferOperation, size: Int64
  ) -> TransferReading {
    guard 200...299 ~= response.status else {
      guard 400...499 ~= response.status, let code = response.s3ErrorCode else { return .other }
      return Self.passingCodes.contains(code) ? .refused : .other
    }
    switch operation {
    case .create, .queryOffset, .queryPart: return .other
    case .whole:
      // A proxy may have responded in place of the server of the bucket.
      return Self.etag(in: response) == nil
        ? .malformed("the response to the file has no valid ETag") : .other
    case .send:
      guard let etag = Self.etag(in: response) else {
        return .malformed("the response to a part has no valid ETag")
      }
      return .part(etag: etag, statedChecksum(response))
    case .listParts:
      guard let list = response.listedParts else { return .malformed("the response is not a list of parts") }
      guard list.parts.allSatisfy({ Self.isETag($0.etag) && $0.checksum?.isValid != false }) else {
        return .malformed("the list of parts has an invalid ETag or checksum")
      }
      return .parts(list)
    }
  }

  /// The reason why the server has not stored the bytes that were sent, according to the checksum in its
  /// response; `nil` if the response states the same checksum, none, or one that cannot be compared.
  ///
  /// - Parameter sent: the checksum in the request, in Base64.
  package func damage(_ response: any OperationResponse, sent: String) -> String? {
    guard 200...299 ~= response.status, let checksum,
      let stated = response.values(of: checksum.fieldInS3).first, stated != sent,
      // A value in another form cannot be compared.
      PartChecksum(checksum, stated).isValid, stated.utf8.count == sent.utf8.count
    else { return nil }
    return "the \(checksum.fieldInS3) in the response is not that of the bytes that were sent"
  }

  /// The checksum of the part in the response; `nil` if the server states none.
  private func statedChecksum(_ response: any OperationResponse) -> PartChecksum? {
    guard let checksum, let value = response.values(of: checksum.fieldInS3).first else { return nil }
    let stated = PartChecksum(checksum, value)
    return stated.isValid ? stated : nil
  }

  /// The ETag of a response; `nil` if it has none, several, or one that cannot be sent back to the server.
  private static func etag(in response: any OperationResponse) -> String? {
    let etags = response.values(of: "ETag")
    return etags.count == 1 ? etags.first.flatMap { isETag($0) ? $0 : nil } : nil
  }

  /// Whether a string can be sent back to the server as the ETag of a part.
  private static func isETag(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text != "\"\""
      && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }

  package func apply(
    _ reading: TransferReading, of operation: TransferOperation, to state: inout TransferState, size: Int64
  ) -> TransferProgress {
    switch (reading, operation) {
    case (.part, .send(let range)):
      let number = number(ofPartAt: range.lowerBound, size: size)
      if state.parts.insert(number) { state.confirmedOffset += range.upperBound - range.lowerBound }
    case (.parts(let list), .listParts(let last)):
      for part in list.parts where has(part, size: size) && !mustCompare(part) {
        if state.parts.insert(part.number) { state.confirmedOffset += part.size }
      }
      // Parts with numbers beyond the last part of the file are irrelevant.
      guard let next = list.next, next < partCount(size) else {
        state.isUncertain = false
        break
      }
      guard next > last else {
        return .contradicts("the server's list of parts is endless: it continues after part \(next) again")
      }
      state.listedThrough = next
      return .proceeds
    default: return .contradicts("the response does not match its request")
    }
    return state.parts.count == partCount(size) ? .complete : .proceeds
  }

  /// Whether the checksum that the server has listed for a part must be compared with that of the file before the part counts:
  /// the server may have stored other bytes.
  package func mustCompare(_ part: PartList.Part) -> Bool { checksum != nil && part.checksum != nil }

  /// Whether a listed part is one of this file's parts.
  package func has(_ part: PartList.Part, size: Int64) -> Bool {
    guard (1...partCount(size)).contains(part.number) else { return false }
    let range = range(ofPart: part.number, size: size)
    return part.size == range.upperBound - range.lowerBound
  }
}
