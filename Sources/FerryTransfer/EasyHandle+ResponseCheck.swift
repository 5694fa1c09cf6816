import CCurl
import FerryPlan

/// Checks that a response is well formed and complete.
///
/// libcurl reports success even if the connection ended inside the header section, or if lengths contradict
/// each other.
extension EasyHandle {
  /// Called when the header section has ended. Returns whether the body may follow.
  func acceptHeader(of exchange: Exchange) -> Bool {
    guard head.status >= 100 else {
      fail(.malformedResponse, "the response's status line is malformed")
      return false
    }
    guard !head.isHTTP2 || exchange.mayBeHTTP2 else {
      fail(.malformedResponse, "the response is HTTP/2, which was not negotiated")
      return false
    }
    guard head.status >= 200 else {
      guard head.status == 101 else {
        keepInterim(of: exchange)
        return true
      }
      fail(.malformedResponse, "the server switched to another protocol without being asked (101)")
      return false
    }
    let framing = ResponseFraming(head, method: exchange.hop.method)
    if case .invalid(let reason) = framing {
      fail(.malformedResponse, reason)
      return false
    }
    exchange.framing = framing
    guard acceptRange(of: exchange) else { return false }
    if case .untilClose = framing, !head.isHTTP2, exchange.storesBody(status: head.status) {
      exchange.sessionEnd = TLSSession(of: curl)?.watchEnd()
    }
    // If the response arrives before the whole request body was sent, the server reads the next data on this
    // connection as the rest of that body, so the connection must not be reused. `attempts` excludes a
    // proxy's response to CONNECT, which precedes the request.
    // Within a handshake of NTLM or Negotiate, libcurl sends no body, and the connection must be kept.
    let isHandshake = head.status == 401 && exchange.hop.connectionAuthentication != nil
    if exchange.attempts > 0, exchange.hop.hasBody, bodySent < exchange.bodySize, !isHandshake {
      ferry_easy_set_long(curl, CURLOPT_FORBID_REUSE, 1)
      exchange.bodySentAtResponse = bodySent
    }
    guard mayReceiveAnnounced() else { return false }
    guard exchange.storesBody(status: head.status),
      let coding = ContentCoding.unrequested(in: head.fields, of: exchange.hop.headers)
    else { return true }
    // If the bytes were stored, the file would not contain the document.
    exchange.refusal =
      "the response has \(ContentCoding.shown(coding)), which was not requested"
    return false
  }

  /// Keeps the first interim response of an exchange that contains a URL. A server can send any number of them. After
  /// it, the exchange has no further hop.
  private func keepInterim(of exchange: Exchange) {
    guard exchange.attempts > 0, !exchange.hasInterim, !exchange.ignoresInterim,
      exchange.request.reportedInterim == head.status,
      head.fields.contains(where: { $0.name.isField("location") })
    else { return }
    exchange.hasInterim = true
    exchange.interim = TransferResponse(
      status: head.status, headers: head.fields, body: [], url: exchange.hop.url)
  }

  /// The reason why a response that libcurl reports as complete is incomplete; `nil` if it is complete.
  func incompleteness() -> TransportFailure? {
    guard let exchange else { return nil }
    guard head.isWhole, head.status >= 200 else {
      return failure(.connectionLost, "the connection ended inside the response's header section")
    }
    if let sent = exchange.bodySentAtResponse,
      (200...299).contains(head.status) || exchange.request.successfulRedirects.contains(head.status)
    {
      return failure(
        .connectionLost,
        "the server responded with \(head.status) before the whole body had been sent "
          + "(\(sent) of \(exchange.bodySize) bytes)")
    }
    switch exchange.framing {
    case .length(let length) where exchange.responseBody < length:
      return failure(
        .connectionLost,
        "the connection ended \(length - exchange.responseBody) bytes before the end of the response")
    case .untilClose where exchange.responseBody == 0 && exchange.storesBody(status: head.status):
      // A server that fails after its header section causes the same events, and the result would be an
      // empty file.
      return failure(
        .connectionLost,
        "the response has no length, and the connection ended before the first byte of its body")
    case .untilClose where exchange.sessionEnd?.isAnnounced == false:
      return failure(
        .connectionLost,
        "the response has no length, and the connection ended without a TLS closure alert: the response may be truncated"
      )
    case .noBody, .length, .chunked, .untilClose, .invalid, nil:
      if exchange.segments?.document != nil, exchange.continued != nil {
        guard case .range(let bytes) = exchange.range, exchange.position.offset < bytes.upperBound else {
          return nil
        }
        // A server may send only a part of the requested range. The rest is requested next.
        let received = exchange.position.offset - bytes.lowerBound
        let isAsAnnounced = exchange.position.offset == exchange.position.end
        if isAsAnnounced, received >= SegmentedDownload.leastPart { return nil }
        return failure(
          .connectionLost,
          "the response ended \(bytes.upperBound - exchange.position.offset) bytes before the end of its range"
        )
      }
      guard exchange.continued != nil, let missing = exchange.fileSink?.missing, missing > 0 else {
        return nil
      }
      return failure(
        .connectionLost, "the response ended \(missing) bytes before the end of the document")
    }
  }
}
