import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

/// Responses to the requests of transfers that send a file in several requests.
extension ResponseInterpreter {
  /// Reads what a response states about its transfer, and keeps the session's URL and the captures.
  func read(
    _ answer: TransferResponse, to attempt: Attempt, _ machine: any TransferMachine, _ prepared: PreparedStep,
    _ found: ResponseReading?, _ response: inout AttemptResult.Response, at now: Instant,
    _ scheduler: Scheduler
  ) {
    guard !answer.isReferred else { return response.transfer = .referred }
    let step = prepared.step
    let size = scheduler.fileSize(of: attempt.ref)
    if machine.followsLocation, 200...299 ~= answer.status, let location = answer.header("Location") {
      var base = URLReference(answer.url)
      base.removeUserinfo()
      let url = URLReference(location).resolved(against: base)
      guard url.isHTTP else {
        response.transfer = .malformed("the Location in the response is neither an http nor an https URL")
        return
      }
      captures.keep(session: url.description, of: attempt.ref, step)
    }
    response.transfer = machine.read(answer, to: attempt.operation, size: size)
    if case .s3Multipart(let machine) = prepared.transferProtocol {
      if let sent = captures.sentChecksum(of: attempt.id), let problem = machine.damage(answer, sent: sent) {
        response.transfer = .damaged(problem)
        return
      }
      return keepParts(of: response.transfer, machine, attempt, step, size: size)
    }
    response.limit = machine.limit(in: answer)
    if response.transfer == .completedEarlier {
      response.missing = missingCapture(of: attempt.ref, scheduler)
      return
    }
    guard case .offset(let offset) = response.transfer, !step.capture.isEmpty, 200...299 ~= answer.status
    else { return }
    let read =
      if let found, found.mismatch == nil {
        found.captures
      } else {
        Result { () throws(TransportFailure) in
          try CaptureReader.read(step.capture, from: answer, prepared.patterns)
        }
      }
    // Only the response that completes the upload must have every capture.
    let isLast = machine.isCompleteAtEnd && offset == size
    if case .failure = read, !isLast { return }
    keep(read, answer, attempt, prepared, &response, at: now, scheduler)
  }

  /// The failure if the steps after a completed upload need a capture of its response, which the server does not repeat;
  /// otherwise `nil`.
  private func missingCapture(of ref: ItemRef, _ scheduler: Scheduler) -> TransportFailure? {
    guard case .upload(let work) = scheduler.plan.nodes[ref.node.index].work,
      let name = work.captureMissing(afterTransferWith: captures[ref])
    else { return nil }
    return TransportFailure(
      .capture, "the server does not repeat the response to the completed upload, and ${\(name)} is needed",
      mayHaveReachedServer: true)
  }

  /// The result of an attempt to send a part that the server has listed with the checksum that the file has; `nil` if the
  /// part must be sent.
  ///
  /// - Parameter digests: the digests of the part.
  func listedPart(_ attempt: Attempt, _ digests: PartDigests, _ scheduler: Scheduler) -> AttemptResult? {
    let prepared = steps[attempt]
    guard case .s3Multipart(let machine) = prepared.transferProtocol,
      case .send(let range) = attempt.operation, let algorithm = machine.checksum,
      let digest = digests[algorithm.algorithm]
    else { return nil }
    let size = scheduler.fileSize(of: attempt.ref)
    let number = machine.number(ofPartAt: range.lowerBound, size: size)
    guard let tag = captures.listedPart(number, of: attempt.ref),
      tag.checksum == PartChecksum(algorithm, Base64.encode(digest))
    else { return nil }
    var response = AttemptResult.Response(status: 200)
    response.transfer = .part(etag: tag.etag, tag.checksum)
    keepParts(of: response.transfer, machine, attempt, prepared.step, size: size)
    var result = AttemptResult(id: attempt.id, answer: .response(response))
    result.isListed = true
    return result
  }

  /// Keeps the ETags and checksums of parts, and journals them once the server has all parts.
  private func keepParts(
    of reading: TransferReading, _ machine: S3Multipart, _ attempt: Attempt, _ step: Step, size: Int64
  ) {
    switch (reading, attempt.operation) {
    case (.part(let etag, let checksum), .send(let range)):
      let number = machine.number(ofPartAt: range.lowerBound, size: size)
      captures.keep(part: number, PartTags.Tag(etag: etag, checksum: checksum), of: attempt.ref)
    case (.parts(let list), _):
      for part in list.parts where machine.has(part, size: size) {
        let tag = PartTags.Tag(etag: part.etag, checksum: part.checksum)
        if machine.mustCompare(part) {
          captures.keep(listedPart: part.number, tag, of: attempt.ref)
        } else {
          captures.keep(part: part.number, tag, of: attempt.ref)
        }
      }
    default: return
    }
    let parts = captures.parts(of: attempt.ref)
    guard parts.count == machine.partCount(size) else { return }
    let capture = CapturedValue(name: RequestTemplate.partsCapture, value: parts.text, isSecret: false)
    // A server may return a secret as the ETag of a part.
    captures.keep(captures.guarded([capture], of: attempt.ref), of: attempt, step)
  }
}

extension TransferResponse: OperationResponse {
  package func values(of field: String) -> [String] {
    headers.filter { $0.name.isField(named: field) }.map(\.value)
  }

  /// The maximum size of a body that is searched, in bytes.
  private static let longestBody = 64 << 10

  package func string(at pointer: String) -> String? {
    guard startsObject, !isBodyCut, body.count <= Self.longestBody,
      // Any other body belongs to another kind of response.
      let json = try? JSONParser.parse(body), case .string(let string) = json.value(at: pointer)
    else { return nil }
    return string
  }

  private var startsObject: Bool {
    body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
  }

  package func strings(at pointer: String) -> StringArray {
    guard startsObject else { return .absent }
    guard !isBodyCut, body.count <= Self.longestBody else { return .tooLarge }
    // Any other body belongs to another kind of response.
    guard let json = try? JSONParser.parse(body) else { return .absent }
    guard let value = json.value(at: pointer) else { return .absent }
    guard case .array(let elements) = value else { return .malformed }
    var strings: [String] = []
    for element in elements {
      guard case .string(let string) = element else { return .malformed }
      strings.append(string)
    }
    return .listed(strings)
  }

  package var s3ErrorCode: String? {
    guard body.count <= Self.longestBody, let document = try? XMLReader.read(body), document.name == "Error"
    else {
      return nil
    }
    return document.text(of: "Code")
  }

  package var listedParts: PartList? {
    // The name of the root element differs between servers: `ListPartsResult`, `ListPartsResponse`.
    guard !isBodyCut, let document = try? XMLReader.read(body), document.text(of: "UploadId") != nil else {
      return nil
    }
    var list = PartList(parts: [], next: nil)
    for part in document.all(at: "\(document.name)/Part") {
      guard let number = part.text(of: "PartNumber").flatMap({ Int($0) }), number >= 1,
        let size = part.text(of: "Size").flatMap({ Int64($0) }), size >= 0, let etag = part.text(of: "ETag")
      else { return nil }
      let checksum = Upload.Transfer.Checksum.allCases.lazy.compactMap { algorithm in
        part.text(of: algorithm.elementInS3).map { PartChecksum(algorithm, $0) }
      }.first
      list.parts.append(.init(number: number, size: size, etag: etag, checksum: checksum))
    }
    if document.text(of: "IsTruncated") == "true" {
      guard let next = document.text(of: "NextPartNumberMarker").flatMap({ Int($0) }) else { return nil }
      list.next = next
    }
    return list
  }
}
