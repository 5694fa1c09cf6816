import FerryPlan

/// Checks responses to requests for a range (RFC 9110, section 14).
extension EasyHandle {
  /// Called when the header section of a response has ended. Returns whether the body may follow; otherwise, the hop is
  /// sent again for another range, or the response is refused.
  func acceptRange(of exchange: Exchange) -> Bool {
    if exchange.range != .whole, exchange.segments?.document == nil, isUnmarkedPart(exchange) {
      exchange.segments?.decline("the server sends ranges without the status 206")
      exchange.kept?.remove()
      exchange.kept = nil
      return resend(exchange, .whole)
    }
    switch exchange.range {
    case .whole: return true
    case .rest:
      guard head.status == 206, let record = exchange.requested else { return true }
      return proceed(exchange, record)
    case .first(let count): return acceptFirst(of: exchange, count)
    case .range(let bytes):
      let isOpen = exchange.segments?.document != nil
      guard let record = exchange.requested else {
        // At the target of a redirect to another path, the request does not ask for a range, because the target may be
        // another document.
        guard 200...299 ~= head.status else { return true }
        guard isOpen else { return dropPart(of: exchange) }
        fail(
          .connectionLost,
          "the response to a request for a range came from another URL than that of the document")
        return false
      }
      if isOpen, isOtherVersion(exchange, record) {
        exchange.segments?.hasChanged = true
        fail(
          .connectionLost, "the document changed while its ranges were downloaded; the download starts over")
        return false
      }
      if head.status == 200, !isOpen { return dropPart(of: exchange) }
      guard head.status == 206 else { return true }
      guard proceed(exchange, record) else { return false }
      let end = (Exchange.range(of: head)?.last ?? bytes.upperBound - 1) + 1
      exchange.position = .init(offset: bytes.lowerBound, end: end)
      if isOpen { exchange.segments?.useHop(of: exchange) }
      if !isOpen, let segments = exchange.segments, let file = exchange.kept {
        exchange.kept = nil
        return open(segments, file, record, bytes, exchange)
      }
      return true
    }
  }

  /// Whether a success other than 206 has only a part of the document: some servers send a range, but not the status for
  /// it.
  private func isUnmarkedPart(_ exchange: Exchange) -> Bool {
    guard 200...299 ~= head.status, head.status != 206 else { return false }
    if head.fields.contains(where: { $0.name.isField("content-range") }) {
      guard let stated = Exchange.range(of: head), stated.first == 0, stated.last == stated.size - 1 else {
        return true
      }
      guard case .length(let length) = exchange.framing, length == stated.size else { return true }
    }
    guard let record = exchange.requested, case .length(let length) = exchange.framing else { return false }
    return length != record.size && Validator.isStronglyNamed(record.validator, in: exchange.response(head))
  }

  /// Removes the part that an earlier request has left, and requests the document from its beginning.
  private func dropPart(of exchange: Exchange) -> Bool {
    exchange.kept?.remove()
    exchange.kept = nil
    return resend(exchange, .first(exchange.request.leastRange))
  }

  private func proceed(_ exchange: Exchange, _ record: PartRecord) -> Bool {
    if let problem = exchange.contradiction(in: head, to: record) {
      exchange.refusal = problem
      return false
    }
    exchange.continued = record
    return true
  }

  /// Whether the server now has another version than the one whose ranges are requested.
  private func isOtherVersion(_ exchange: Exchange, _ record: PartRecord) -> Bool {
    switch head.status {
    case 206:
      Exchange.range(of: head).map { $0.size != record.size } ?? false
        || !Validator.isStronglyNamed(record.validator, in: exchange.response(head))
    // Any other success is not a range, even if the manifest expects its status.
    case 200...299, 416: true
    default: false
    }
  }

  /// The response to a request for the first bytes of an unknown document.
  private func acceptFirst(of exchange: Exchange, _ count: Int64) -> Bool {
    guard let segments = exchange.segments else { return true }
    switch head.status {
    case 200...299 where head.status != 206:
      segments.decline("the server does not send ranges of the document")
      return true
    case 416:
      // Servers respond with this status if the document is empty.
      return resend(exchange, .whole)
    case 206: break
    default: return true
    }
    guard let stated = Exchange.range(of: head), stated.first == 0, stated.last < count else {
      segments.decline("the server does not state the size of the document in its response to a range")
      return resend(exchange, .whole)
    }
    guard let record = exchange.record(of: head, size: stated.size) else {
      segments.decline("the response has no strong validator, such as an ETag without W/")
      return resend(exchange, .whole)
    }
    exchange.range = .range(0..<min(count, stated.size))
    if exchange.contradiction(in: head, to: record) != nil {
      segments.decline("the response to a range lacks what the download requires")
      return resend(exchange, .whole)
    }
    guard case .file(let path, _) = exchange.request.destination, let owner = exchange.request.partOwner
    else {
      return true
    }
    do throws(TransportFailure) {
      try exchange.request.missingFolder?.create()
      guard let file = try DownloadFile.part(path, owner: owner, record) else {
        segments.decline("its partial file cannot be created")
        return resend(exchange, .whole)
      }
      exchange.continued = record
      exchange.position = .init(offset: 0, end: stated.last + 1)
      return open(segments, file, record, 0..<min(count, stated.size), exchange)
    } catch {
      exchange.failure = error
      return false
    }
  }

  private func open(
    _ segments: SegmentedDownload, _ file: DownloadFile, _ record: PartRecord, _ first: Range<Int64>,
    _ exchange: Exchange
  ) -> Bool {
    do throws(TransportFailure) {
      try file.checkSpace(for: record.size - record.written.count)
      segments.open(file, record, exchange.hop, first: first)
      return true
    } catch {
      exchange.kept = file
      exchange.failure = error
      return false
    }
  }

  private func resend(_ exchange: Exchange, _ range: RangeRequest) -> Bool {
    exchange.range = range
    exchange.needsOtherRange = true
    return false
  }
}
