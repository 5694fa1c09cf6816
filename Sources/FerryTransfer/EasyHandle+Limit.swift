import FerryPlan

/// Enforces `TransferRequest.byteLimit`, for each direction separately and over all hops of the request, and
/// `sizeLimit`, which applies to stored bodies.
///
/// A body that is known to be too large is not transferred: a request body is rejected before connecting, a
/// response body at the end of the header section. Only a response without a length is cut off in the
/// middle.
extension EasyHandle {
  /// Fails with `byteLimit` if this hop's body is larger than the request allows, or than the number of bytes that may still
  /// be sent.
  func checkSending(_ exchange: Exchange) throws(TransportFailure) {
    if let limit = exchange.request.bodyLimit, exchange.bodySize > limit {
      var failure = TransportFailure(
        .byteLimit, "\(exchange.bodySize) bytes have to be reserved for the body, and \(limit) are",
        mayHaveReachedServer: exchange.hasReachedServer)
      if !exchange.hasReachedServer { failure.refusedBodySize = exchange.bodySize }
      throw failure
    }
    guard let limit = exchange.request.byteLimit, exchange.bodySize > limit - exchange.sentBefore else {
      return
    }
    throw TransportFailure(
      .byteLimit, "the size of the body, \(exchange.bodySize) bytes, exceeds the limit of \(limit) bytes",
      mayHaveReachedServer: false)
  }

  /// Fails with `byteLimit` if the body must not be sent again after a redirect or an authentication challenge
  /// (`TransferRequest.bodyCopies`).
  func checkRepetition(_ exchange: Exchange) throws(TransportFailure) {
    guard exchange.redirects > 0 || exchange.challengesAnswered > 0, !mayResend(exchange) else { return }
    throw noRoom(exchange)
  }

  /// The failure of a request whose body the server requires again, if the budget does not allow it.
  func noRoom(_ exchange: Exchange) -> TransportFailure {
    TransportFailure(
      .byteLimit, "the server requires the body again, and the budget does not allow it to be sent again",
      mayHaveReachedServer: exchange.hasReachedServer)
  }

  /// Whether the body of this hop may be sent in addition to the bytes that have been sent.
  func mayResend(_ exchange: Exchange) -> Bool {
    guard let copies = exchange.request.bodyCopies, exchange.hop.hasBody else { return true }
    // libcurl does not count the bytes of a body in memory that it has sent before.
    // The first request of a handshake has no body.
    let withBody = exchange.attempts - (exchange.hop.connectionAuthentication == nil ? 0 : 1)
    let resent = exchange.file == nil ? exchange.bodySize *| Int64(max(0, withBody)) : 0
    return exchange.sentBefore +| resent <= exchange.bodySize *| (copies - 1)
  }

  /// Called when the header section of the response is complete. Returns whether the announced body may be
  /// received.
  func mayReceiveAnnounced() -> Bool { mayStoreAnnounced() && mayMoveAnnounced() }

  private func mayStoreAnnounced() -> Bool {
    guard let limit = exchange?.request.sizeLimit, let exchange, exchange.storesBody(status: head.status),
      let size = exchange.announcedSize, size > limit
    else { return true }
    fail(
      .responseTooLarge,
      "the response of \(size) bytes is larger than \(exchange.request.sizeLimitName), \(limit) bytes")
    return false
  }

  /// Called after a piece of a file was received and counted. Returns whether the file is within `sizeLimit`.
  func mayStoreReceived() -> Bool {
    guard let limit = exchange?.request.sizeLimit, let exchange,
      exchange.bodyReceived > limit - exchange.storedBefore
    else {
      return true
    }
    fail(.responseTooLarge, "the response is larger than \(exchange.request.sizeLimitName), \(limit) bytes")
    return false
  }

  /// Called after a piece of a body that is not needed was received and counted. Returns whether these bodies are within
  /// `unwantedBodyLimit`.
  func mayDrop(_ count: Int) -> Bool {
    guard let exchange else { return false }
    exchange.unwantedReceived += Int64(count)
    let limit = exchange.request.unwantedBodyLimit
    guard exchange.unwantedReceived > limit else { return true }
    let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
    // Another connection may get the range, and another attempt may get the rest of the document.
    fail(
      exchange.segments?.document == nil ? .responseTooLarge : .connectionLost,
      exchange.responseBody > limit
        ? "the body of the \(head.status) response is larger than \(size)"
        : "the bodies of the redirects and of the \(head.status) response are together larger than \(size)")
    return false
  }

  private func mayMoveAnnounced() -> Bool {
    guard let limit = exchange?.request.byteLimit, let exchange, let length = exchange.announcedBytes,
      length > limit - exchange.received
    else { return true }
    fail(.byteLimit, "the size of the response, \(length) bytes, exceeds the limit of \(limit) bytes")
    return false
  }

  /// Called after a piece of the response was received and counted. Returns whether the response is within
  /// `byteLimit`.
  func mayKeepReceived() -> Bool {
    guard let limit = exchange?.request.byteLimit, let exchange, exchange.received > limit else {
      return true
    }
    fail(.byteLimit, "the size of the response exceeds the limit of \(limit) bytes")
    return false
  }
}

extension Exchange {
  /// Body bytes received over all hops and connections.
  fileprivate var received: Int64 {
    segments?.bodyReceived ?? traffic.bodyReceived + (isHopClosed ? 0 : bodyReceived)
  }

  /// The size of the document that the response announces; `nil` if unknown.
  fileprivate var announcedSize: Int64? {
    if let document = segments?.document { return document.record.size }
    if case .length(let length) = framing { return length + storedBefore } else { return nil }
  }

  /// The number of bytes that the response announces, or all connections together; `nil` if unknown.
  fileprivate var announcedBytes: Int64? {
    guard case .length(let length) = framing else { return nil }
    guard continued != nil, let document = segments?.document, bodyReceived == 0 else { return length }
    return max(length, document.record.size - document.file.size)
  }

  /// Body bytes sent before this hop: those of earlier hops and, if the body is a file, those of failed attempts.
  /// libcurl's counter, on which `bodySentBefore` is based, does not include those attempts.
  fileprivate var sentBefore: Int64 { max(bodySentBefore, handedOver) }
}
