import FerryPlan
import FerryProcess

/// Downloads that continue the part that an earlier request left (RFC 9110, sections 13.1.5 and 14).
extension Exchange {
  /// Whether the hop's request asks for the rest of the document whose beginning is in `kept`.
  var asksForRest: Bool {
    kept != nil && request.partOwner != nil
      && hop.headers.contains { $0.name == "If-Range" && $0.value == kept?.record?.validator }
  }

  /// Whether the hop's request asked for the rest of a document, even if its part no longer exists.
  var askedForRest: Bool { keptBefore > 0 && hop.headers.contains { $0.name == "If-Range" } }

  /// The reason why a 206 response does not have the rest of the document; `nil` if it does.
  func contradiction(in head: ResponseHead) -> String? {
    guard let record = kept?.record else { return "the server sent a part that was not requested" }
    let response = TransferResponse(status: head.status, headers: head.fields, body: [], url: hop.url)
    guard let range = Self.range(of: head) else {
      return "the server sent a part without a Content-Range that states its position"
    }
    guard range.first == record.firstRequested, range.size == record.size else {
      return
        "the server sent a part at byte \(range.first) of \(range.size), not at byte \(record.firstRequested) of \(record.size)"
    }
    if case .length(let length) = framing, length != range.last - range.first + 1 {
      return
        "the length of the part is \(length) bytes, but its Content-Range states \(range.last - range.first + 1)"
    }
    guard Validator.isStronglyNamed(record.validator, in: response) else {
      return "the server sent a part of another version of the document"
    }
    // The response with the rest may omit the field (RFC 9110, section 15.3.7). The whole document is then requested.
    if case .field(let name)? = request.checksum,
      !head.fields.contains(where: { $0.name.isField(named: name) })
    {
      return "the part has no header '\(name)', which 'checksum' requires"
    }
    return nil
  }

  /// The position of a part that a response states; `nil` if it does not state exactly one.
  private static func range(of head: ResponseHead) -> ContentRangeField? {
    let ranges = head.fields.filter { $0.name.isField("content-range") }.map(\.value)
    return ranges.count == 1 ? ranges.first.flatMap(ContentRangeField.init) : nil
  }

  /// The file that a response is written to, if a part of it can be continued later: the part that an earlier request
  /// has left, or a new one. `nil` if the response does not allow a later request for its rest.
  func part(of path: String, _ head: ResponseHead) throws(TransportFailure) -> DownloadFile? {
    guard let owner = request.partOwner else { return nil }
    if let continued, let kept {
      try kept.checkSpace(for: continued.size - continued.written)
      kept.proceed(from: continued.firstRequested, through: Self.range(of: head)?.last ?? continued.size - 1)
      return kept
    }
    kept?.remove()
    kept = nil
    let response = TransferResponse(status: head.status, headers: head.fields, body: [], url: hop.url)
    guard let boot = SystemBoot.identifier, head.status == 200, hop.method == "GET",
      case .length(let size) = framing,
      size >= DownloadFile.leastKeptSize, let validator = Validator.strong(of: response),
      // Servers that do not support ranges state this.
      !head.fields.contains(where: { $0.name.isField("accept-ranges") && $0.value.lowercased() == "none" })
    else { return nil }
    let record = PartRecord(
      source: PartSource.digest(of: hop.url, request), validator: validator,
      modified: Validator.modified(of: response) == nil ? nil : response.header("Last-Modified"), size: size,
      boot: boot)
    return try DownloadFile.part(path, owner: owner, record)
  }

  /// The fields of the response. A response with the rest of a document may omit fields of the document that its
  /// beginning had (RFC 9110, section 15.3.7).
  func fields(of head: ResponseHead) -> [(name: String, value: String)] {
    guard let continued else { return head.fields }
    return head.fields
      + continued.fields.filter { known in !head.fields.contains { $0.name.isField(named: known.name) } }
  }

  /// The number of bytes of the document that precede the body of the response.
  var storedBefore: Int64 { continued?.firstRequested ?? 0 }

  /// The statuses after which the part is not continued: the file at the destination is current (304), or the server
  /// does not accept the request for the rest.
  private static let endingStatuses = [304, 400, 412, 416, 431]

  /// Ends the work on the part, and returns its state; `nil` if the request had none.
  func endPart(of head: ResponseHead) -> PartProgress? {
    guard request.partOwner != nil else { return nil }
    let isContinuing = continued != nil
    if storedFile != nil { return isContinuing || keptBefore == 0 ? nil : PartProgress(dropped: keptBefore) }
    if refusal != nil || head.isWhole && Self.endingStatuses.contains(head.status) { kept?.remove() }
    let through = (fileSink ?? kept)?.suspend() ?? 0
    let before = isContinuing || kept != nil && fileSink == nil ? keptBefore : 0
    (kept, sink) = (nil, .dropped)
    return PartProgress(
      kept: max(0, through - before), through: through, dropped: keptBefore - min(before, through))
  }
}

extension DownloadFile {
  /// The part that an earlier request of the same work has left; `nil` if there is none.
  static func kept(for request: TransferRequest) -> DownloadFile? {
    guard let owner = request.partOwner, request.method == "GET",
      case .file(let path, _) = request.destination
    else {
      return nil
    }
    return kept(path, owner: owner)
  }

  /// The number of bytes that a part lacks; `nil` if the file is not a part.
  var missing: Int64? { record.map { $0.size - size } }
}

extension RedirectPolicy.Hop {
  /// Asks for the rest of the document if the part belongs to this hop's URL, and for the whole document otherwise.
  mutating func setRange(after kept: DownloadFile?, _ request: TransferRequest) {
    guard let kept, let record = kept.record else { return }
    let fields = [
      TransferRequest.HeaderField(name: "Range", value: "bytes=\(record.firstRequested)-"),
      TransferRequest.HeaderField(name: "If-Range", value: record.validator),
    ]
    headers.removeAll { fields.contains($0) }
    if PartSource.digest(of: url, request) == record.source { headers += fields }
  }
}
