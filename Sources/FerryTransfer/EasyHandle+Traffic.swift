import FerryPlan

extension EasyHandle {
  /// The bytes that the exchange has transferred over all its hops, including the current one.
  var traffic: Traffic {
    guard let exchange else { return Traffic() }
    guard !exchange.isHopClosed else { return exchange.traffic }
    // Until libcurl starts the request, its counters still contain the values of the previous request.
    let isTakenUp = exchange.attempts > 0
    let sent = isTakenUp ? bodySent : 0
    let (body, fileBytes) = bytesSent(in: exchange)
    var traffic = exchange.traffic
    traffic += Traffic(
      bodySent: fileBytes, framingSent: body - fileBytes, bodyReceived: exchange.bodyReceived,
      headersSent: isTakenUp ? headersSent(bodySent: sent, attempts: exchange.attempts) : 0,
      headersReceived: exchange.headersReceived)
    return traffic
  }

  /// The bytes of the body that the hop has sent, and those of them that belong to the file.
  private func bytesSent(in exchange: Exchange) -> (body: Int64, file: Int64) {
    let body = max(exchange.attempts > 0 ? bodySent : 0, exchange.sentBeforeResend)
    return (body, exchange.fileBody?.fileBytes(in: body) ?? body)
  }

  /// Called when libcurl has finished the hop. Reads libcurl's counters before they are reset.
  ///
  /// - Parameter succeeded: whether libcurl reports the response as complete.
  func closeHop(succeeded: Bool) {
    guard let exchange, !exchange.isHopClosed else { return }
    let traffic = traffic
    if exchange.attempts > 0 { exchange.bodySentBefore += bodySent }
    exchange.sentInHop = bytesSent(in: exchange).file
    exchange.traffic = traffic
    exchange.isHopClosed = true
    if !exchange.needsOtherConnection { closeTrace(of: exchange, succeeded: succeeded) }
  }
}

extension Exchange {
  /// Starts a hop with all counters at zero, after a redirect or when the hop is restarted.
  func startHop(now: SuspendingClock.Instant) {
    attempts = 0
    sentBeforeResend = 0
    descriptor = nil
    needsOtherConnection = false
    sessionEnd = nil
    bodySentAtResponse = nil
    bodyReceived = 0
    responseBody = 0
    framing = nil
    headersReceived = 0
    continued = nil
    sink = .undecided
    body = []
    isHopClosed = false
    pauses = []
    lastProgress = now
    lastCount = 0
    speedMark = nil
    hopStarted = now
    sentAt = nil
    firstByteAt = nil
    sentHead = []
    lastSentAt = nil
  }
}
