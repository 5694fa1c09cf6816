import FerryPlan
import FerryProcess

/// Downloads that continue the part that an earlier request left (RFC 9110, sections 13.1.5 and 14).
extension Exchange {
  /// The record of the part to which the hop's request refers; `nil` if it asks for the whole document or for its first
  /// bytes.
  var requested: PartRecord? {
    guard request.partOwner != nil, let record = segments?.document?.record ?? kept?.record,
      hop.headers.contains(where: { $0.name == "If-Range" && $0.value == record.validator })
    else { return nil }
    return record
  }

  /// Whether the hop's request asked for a part of a known version of the document, even if its part no longer exists.
  var askedForRest: Bool {
    (keptBefore > 0 || segments?.document != nil) && hop.headers.contains { $0.name == "If-Range" }
  }

  /// The reason why a 206 response does not have the requested bytes; `nil` if it does.
  func contradiction(in head: ResponseHead, to record: PartRecord?) -> String? {
    guard let record else { return "the server sent a part that was not requested" }
    guard let stated = Self.range(of: head) else {
      return "the server sent a part without a Content-Range that states its position"
    }
    guard stated.first == range.start, stated.size == record.size else {
      return
        "the server sent a part at byte \(stated.first) of \(stated.size), not at byte \(range.start) of \(record.size)"
    }
    if case .range(let bytes) = range, stated.last >= bytes.upperBound {
      return "the server sent a part up to byte \(stated.last), which was not requested"
    }
    if case .length(let length) = framing {
      guard length == stated.last - stated.first + 1 else {
        return
          "the length of the part is \(length) bytes, but its Content-Range states \(stated.last - stated.first + 1)"
      }
    } else if case let codings = ContentCoding.codings(of: head.fields), !codings.isEmpty {
      // Some servers compress the part itself, whose bytes are then not those of the document.
      return
        "the part has \(ContentCoding.shown(codings.joined(separator: ", "))), but no length to compare with its Content-Range"
    }
    guard Validator.isStronglyNamed(record.validator, in: response(head)) else {
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

  func response(_ head: ResponseHead) -> TransferResponse {
    TransferResponse(status: head.status, headers: head.fields, body: [], url: hop.url)
  }

  /// The position of a part that a response states; `nil` if it does not state exactly one.
  static func range(of head: ResponseHead) -> ContentRangeField? {
    let ranges = head.fields.filter { $0.name.isField("content-range") }.map(\.value)
    return ranges.count == 1 ? ranges.first.flatMap(ContentRangeField.init) : nil
  }

  /// The file that a response is written to, if a part of it can be continued later: the part that an earlier request
  /// has left, or a new one. `nil` if the response does not allow a later request for its rest.
  func part(of path: String, _ head: ResponseHead) throws(TransportFailure) -> DownloadFile? {
    guard let owner = request.partOwner else { return nil }
    if let continued, let kept {
      try kept.checkSpace(for: continued.size - continued.written.count)
      position = .init(
        offset: continued.firstRequested, end: (Self.range(of: head)?.last ?? continued.size - 1) + 1)
      return kept
    }
    kept?.remove()
    kept = nil
    guard head.status == 200, hop.method == "GET", case .length(let size) = framing,
      size >= DownloadFile.leastKeptSize, let record = record(of: head, size: size)
    else { return nil }
    position = .init(offset: 0, end: size)
    return try DownloadFile.part(path, owner: owner, record)
  }

  /// The record of a new part; `nil` if the response does not allow a later request for other bytes.
  func record(of head: ResponseHead, size: Int64) -> PartRecord? {
    let response = response(head)
    guard let boot = SystemBoot.identifier, let validator = Validator.strong(of: response),
      // Servers that do not support ranges state this.
      !head.fields.contains(where: { $0.name.isField("accept-ranges") && $0.value.lowercased() == "none" })
    else { return nil }
    return PartRecord(
      source: PartSource.digest(of: hop.url, request), validator: validator,
      modified: Validator.modified(of: response) == nil ? nil : response.header("Last-Modified"), size: size,
      boot: boot)
  }

  /// The fields of the response. A response with the rest of a document may omit fields of the document that its
  /// beginning had (RFC 9110, section 15.3.7).
  func fields(of head: ResponseHead) -> [(name: String, value: String)] {
    guard let continued else { return head.fields }
    return head.fields
      + continued.fields.filter { known in !head.fields.contains { $0.name.isField(named: known.name) } }
  }

  /// The number of bytes of the document that precede the body of the response.
  var storedBefore: Int64 { continued == nil ? 0 : range.start }

  /// The statuses after which the part is not continued: the file at the destination is current (304), or the server
  /// does not accept the request for the rest.
  private static let endingStatuses = [304, 400, 412, 416, 431]

  /// Ends the work on the part, and returns its state; `nil` if the request had none.
  func endPart(of head: ResponseHead) -> PartProgress? {
    guard request.partOwner != nil else { return nil }
    if let segments, let document = segments.document { return endPart(of: document, segments, head) }
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

extension Exchange {
  /// Ends the work on the part that several connections have received, and returns its state.
  private func endPart(
    of document: SegmentedDownload.Document, _ segments: SegmentedDownload, _ head: ResponseHead
  ) -> PartProgress? {
    sink = .dropped
    let (total, before) = (segments.keptBefore, document.record.written.count)
    // An earlier part of another version may have been dropped.
    guard storedFile == nil else { return total > before ? PartProgress(dropped: total - before) : nil }
    if refusal != nil || segments.isRefused || head.isWhole && Self.endingStatuses.contains(head.status) {
      document.file.remove()
    }
    let through = document.file.suspend()
    return PartProgress(
      kept: max(0, through - before), through: through, dropped: total - min(before, through))
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
  /// Asks for a range if the part belongs to this hop's URL, and for the whole document otherwise.
  mutating func setRange(_ range: RangeRequest, of record: PartRecord?, _ request: TransferRequest) {
    guard request.partOwner != nil else { return }
    headers.removeAll { $0.name == "Range" || $0.name == "If-Range" }
    if let record, PartSource.digest(of: url, request) != record.source { return }
    headers += range.fields(record?.validator)
  }
}
