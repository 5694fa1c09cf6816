import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

/// The digests of the bytes that an attempt sends, by their algorithms.
typealias PartDigests = [DigestAlgorithm: [UInt8]]

/// Requests of transfers that send a file in several requests.
extension RequestFactory {
  /// Turns the request for a whole file into one of the requests with which the transfer's protocol sends the
  /// file.
  func setOperation(
    _ attempt: Attempt, _ machine: any TransferMachine, _ source: TransferRequest.FileSource,
    _ digests: PartDigests, _ request: inout TransferRequest
  ) throws(TransportFailure) {
    let number = machine.resourceNumber(of: attempt.operation, size: source.size)
    let session = machine.followsLocation ? captures.session(of: attempt.ref) : nil
    try holdResource(number, of: attempt, url: session?.value ?? request.url, isFromResponse: session != nil)
    if let session {
      request.url = session.value
      // The response determines the whole URL, which may contain values of the previous URL.
      let sensitive = request.sensitive
      request.sensitive.urlBeginning =
        sensitive.urlBeginning + sensitive.url
        + (session.isSecret ? ["the Location of the last response"] : [])
      request.sensitive.url = []
      request.sensitive.isURLCaptured = true
    }
    let operation = machine.request(for: attempt.operation, size: source.size)
    if operation.isForResource { try setResource(number, of: attempt, &request) }
    switch attempt.operation {
    case .whole: break
    case .create(let range):
      var part = source
      part.part = range
      request.body = .file(part)
      request.headers.removeAll { ["content-length", "content-range"].contains($0.name.lowercased()) }
      request.reportedInterim = 104
    case .queryOffset, .queryPart, .listParts:
      request.body = .none
      request.queriedFile = source
      request.headers.removeAll(where: \.describesBody)
      // The offset may be in the body of the response.
      request.destination = .memory(limit: 1 << 20, isNeeded: false)
    case .send(let range):
      var part = source
      part.part = range
      request.body = .file(part)
      request.headers.removeAll { ["content-length", "content-range"].contains($0.name.lowercased()) }
      // After a lost response, the server is asked for its offset before bytes are sent again.
      request.atMostOnce = machine.asksAfterLoss
    }
    if operation.leavesOutObjectFields {
      request.headers.removeAll { S3Multipart.describesObject($0.name) }
    }
    var query = operation.query
    if operation.usesUploadID,
      let id = captures[attempt.ref].allocate.first(where: { $0.name == "upload_id" })
    {
      query.append(.init(name: "uploadId", value: id.value))
    }
    request.url = Self.adding(query, to: request.url)
    if let method = operation.method { request.method = method }
    request.redirects.keeps308 = operation.keeps308
    for field in operation.fields {
      request.headers.removeAll { $0.name.lowercased() == field.name.lowercased() }
      request.headers.append(.init(name: field.name, value: field.value))
    }
    if let declared = operation.checksum, let checksum = digests[declared.algorithm] {
      request.headers.removeAll { $0.name.lowercased() == declared.field.lowercased() }
      let value = Base64.encode(checksum)
      request.headers.append(.init(name: declared.field, value: declared.prefix + value))
      captures.keep(sentChecksum: value, of: attempt.id)
    }
  }

  /// The part of a file that must be hashed before the attempt's request can be signed or given a checksum,
  /// and the algorithm; `nil` if no digest is missing.
  ///
  /// - Parameter digests: the digests that are already known.
  func partToHash(
    before attempt: Attempt, knowing digests: PartDigests = [:], _ scheduler: Scheduler
  ) throws(TransportFailure) -> (source: TransferRequest.FileSource, algorithm: DigestAlgorithm)? {
    guard attempt.step == .transfer, attempt.operation.isSending else { return nil }
    let prepared = steps[attempt]
    guard let machine = prepared.transferProtocol.machine else { return nil }
    let size = scheduler.fileSize(of: attempt.ref)
    let checksum = machine.request(for: attempt.operation, size: size).checksum
    // `fileToHash` handles the digest of a whole file.
    let isSigned = attempt.operation != .whole && signsFile(attempt, prepared, scheduler)
    let signed: DigestAlgorithm? = isSigned ? .sha256 : nil
    let needed = [signed, checksum?.algorithm].compactMap(\.self)
    guard let algorithm = needed.first(where: { digests[$0] == nil }),
      absence(of: attempt.ref, scheduler) == nil,
      var part = try source(of: attempt.ref, scheduler, wantsSHA256: false)
    else { return nil }
    part.part = attempt.operation.range
    return (part, algorithm)
  }

  /// The URL with parameters added to its query.
  private static func adding(_ query: [OperationRequest.Field], to url: String) -> String {
    var bytes = Array(url.utf8)
    for parameter in query {
      bytes.append(bytes.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
      bytes += parameter.name.utf8
      bytes.append(UInt8(ascii: "="))
      PercentEncoding.append(Array(parameter.value.utf8), for: .segment, to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Fails with `capture` if another file already uses the URL to which this file is sent in several requests.
  ///
  /// - Parameter isFromResponse: whether a response to an earlier part of the file has stated the URL.
  private func holdResource(
    _ number: Int, of attempt: Attempt, url: String, isFromResponse: Bool
  ) throws(TransportFailure) {
    let prepared = steps[attempt]
    let resource: String?
    switch prepared.transferProtocol {
    // The URL is that of the object, and the upload ID belongs to it.
    case .whole, .s3Multipart: resource = nil
    case .resumable, .tus, .contentRange:
      resource =
        if prepared.transferProtocol.machine?.assignsResource == true {
          captures.resource(of: attempt.ref, number: number)?.value
        } else {
          isFromResponse || prepared.isURLOfUpload ? url : nil
        }
    }
    guard let resource, !captures.hold(resource: resource, for: attempt.ref, number: number) else { return }
    throw TransportFailure(
      .capture, "the server has assigned the same upload to another file, or to another part of it",
      mayHaveReachedServer: false)
  }

  /// Sends a request to the upload resource that the server has assigned. A response determines the whole URL of the
  /// request.
  private func setResource(
    _ number: Int, of attempt: Attempt, _ request: inout TransferRequest
  ) throws(TransportFailure) {
    guard let resource = captures.resource(of: attempt.ref, number: number) else {
      throw TransportFailure(.capture, "the item has no upload resource", mayHaveReachedServer: false)
    }
    request.url = resource.value
    request.headers.removeAll { $0.describesBody || RequestTemplate.describesFile($0.name) }
    request.sensitive.urlBeginning = ["the URL of the upload resource"]
    request.sensitive.url = []
    request.sensitive.isURLCaptured = true
  }
}
