import FerryPlan

/// `TransferRequest.byteLimit`, each direction by itself over all hops of the request, and `sizeLimit`, what is stored.
///
/// What is known to be too much is not begun: a body of ours before it is connected, an answer's at the
/// end of its header. Only an answer without a length is cut off in the middle.
extension EasyHandle {
  /// Fails with `byteLimit` where this hop's body is more than may still be sent.
  func checkSending(_ exchange: borrowing Exchange) throws(TransportFailure) {
    guard let limit = exchange.request.byteLimit, exchange.bodySize > limit - exchange.sentBefore else {
      return
    }
    throw TransportFailure(
      .byteLimit, "the body of \(exchange.bodySize) bytes is more than the \(limit) that may be sent",
      mayHaveReachedServer: false)
  }

  /// The answer's header is whole. Returns whether what it announces may still be received.
  func mayReceiveAnnounced() -> Bool { mayMoveAnnounced() && mayStoreAnnounced() }

  private func mayStoreAnnounced() -> Bool {
    guard let limit = exchange?.request.sizeLimit, let exchange, exchange.storesBody(status: head.status),
      case .length(let length) = exchange.framing, length > limit
    else { return true }
    fail(.responseTooLarge, "the response of \(length) bytes is larger than max_size, \(limit) bytes")
    return false
  }

  /// A piece of a file came and is counted. Returns whether the file may be so large.
  func mayStoreReceived() -> Bool {
    guard let limit = exchange?.request.sizeLimit, let exchange, exchange.bodyReceived > limit else {
      return true
    }
    fail(.responseTooLarge, "the response is larger than max_size, \(limit) bytes")
    return false
  }

  private func mayMoveAnnounced() -> Bool {
    guard let limit = exchange?.request.byteLimit, let exchange, case .length(let length) = exchange.framing,
      length > limit - exchange.received
    else { return true }
    fail(.byteLimit, "the response of \(length) bytes is more than the \(limit) that may be received")
    return false
  }

  /// A piece of the answer came and is counted. Returns whether it was within the limit.
  func mayKeepReceived() -> Bool {
    guard let limit = exchange?.request.byteLimit, let exchange, exchange.received > limit else {
      return true
    }
    fail(.byteLimit, "the response is larger than the \(limit) bytes that may be received")
    return false
  }
}

extension Exchange {
  /// Body bytes that came over all hops.
  fileprivate var received: Int64 { traffic.bodyReceived + (isHopClosed ? 0 : bodyReceived) }

  /// Body bytes that went before: in earlier hops, and of a file also in attempts that broke. libcurl's
  /// counter, from which `traffic` comes, forgets those.
  fileprivate var sentBefore: Int64 { max(traffic.bodySent, handedOver) }
}
