import CCurl
import FerryPlan

/// The times of a hop, and its trace.
extension EasyHandle {
  /// Makes libcurl report the header sections that it sends, which it composes itself.
  func startTracing() {
    ferry_easy_set_pointer(curl, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque())
    ferry_easy_set_debug(curl) { _, type, bytes, size, context in
      guard let context else { return 0 }
      Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        switch type {
        case CURLINFO_HEADER_OUT: $0.didSend(head: UnsafeRawBufferPointer(start: bytes, count: size))
        case CURLINFO_DATA_OUT: $0.exchange?.lastSentAt = .now
        default: break
        }
      }
      return 0
    }
    ferry_easy_set_long(curl, CURLOPT_VERBOSE, 1)
  }

  private func didSend(head bytes: UnsafeRawBufferPointer) {
    guard let exchange else { return }
    exchange.lastSentAt = .now
    exchange.sentHead.append(contentsOf: bytes.prefix(TracedHop.headLimit - exchange.sentHead.count))
  }

  /// The phases of the hop that libcurl has finished or that is being stopped.
  var phases: RequestPhases {
    var phases = RequestPhases()
    var count = 0
    let resolved = time(CURLINFO_NAMELOOKUP_TIME_T)
    if ferry_easy_get_long(curl, CURLINFO_NUM_CONNECTS, &count) == CURLE_OK, count > 0 {
      let (connected, secured) = (time(CURLINFO_CONNECT_TIME_T), time(CURLINFO_APPCONNECT_TIME_T))
      phases.connection = .new
      phases.nameResolution = resolved
      if connected > .zero { phases.connect = max(.zero, connected - resolved) }
      if secured > .zero { phases.tls = max(.zero, secured - connected) }
    }
    if let exchange, let sent = exchange.sentAt, let first = exchange.firstByteAt {
      phases.firstByte = sent.duration(to: first)
    }
    if exchange?.sentAt != nil, phases.connection == .none { phases.connection = .reused }
    return phases
  }

  private func time(_ info: CURLINFO) -> Duration {
    var microseconds: curl_off_t = 0
    guard ferry_easy_get_off(curl, info, &microseconds) == CURLE_OK else { return .zero }
    return .microseconds(max(0, Int64(microseconds)))
  }

  /// Records the hop that ends.
  ///
  /// - Parameter succeeded: whether libcurl reports the response as complete.
  func closeTrace(of exchange: Exchange, succeeded: Bool) {
    let phases = phases
    exchange.phases = exchange.phases.map { $0 + phases } ?? phases
    guard exchange.isTraced else { return }
    var hop = TracedHop(method: exchange.hop.method, url: exchange.hop.url)
    hop.requestHead = exchange.sentHead
    if exchange.hop.hasBody {
      hop.requestBodySize = exchange.bodySize
      if case .bytes(let bytes) = exchange.request.body {
        hop.requestBody = Array(bytes.prefix(TracedHop.bodyLimit))
      }
    }
    if exchange.attempts > 0 { hop.bodySent = bodySent }
    if head.isWhole {
      (hop.status, hop.reason, hop.headers) = (head.status, head.reason, head.fields)
      hop.isReasonCut = head.isReasonCut
      hop.version = head.isHTTP2 ? "HTTP/2" : head.isHTTP10 ? "HTTP/1.0" : "HTTP/1.1"
    }
    hop.headersReceived = exchange.headersReceived
    switch exchange.decodedBody(of: head) {
    case .success((let body, let coding)):
      (hop.body, hop.unrequestedCoding) = (Array(body.prefix(TracedHop.bodyLimit)), coding)
      hop.isBodyCut =
        !succeeded || incompleteness() != nil || body.count > hop.body.count
        || exchange.responseBody > exchange.body.count
    case .failure: break
    }
    hop.bodySize = exchange.responseBody
    hop.phases = phases
    if let start = exchange.sentAt {
      hop.sentAfter = exchange.hopStarted.duration(to: start)
      hop.send = exchange.lastSentAt.map { start.duration(to: $0) }
    }
    hop.total = exchange.hopStarted.duration(to: .now)
    if let host = peer?.host, !host.isEmpty { hop.address = host }
    var port = 0
    if ferry_easy_get_long(curl, CURLINFO_LOCAL_PORT, &port) == CURLE_OK, port > 0 {
      hop.localPort = UInt16(truncatingIfNeeded: port)
    }
    hop.proxy = exchange.request.connection.proxySettings?.address(for: exchange.hop.url)
    exchange.hops.append((exchange.hopStarted, hop))
  }
}

extension Exchange {
  /// The hops of the exchange, which ends now.
  func takeHops(_ failure: TransportFailure?) -> [TracedHop] {
    let now = SuspendingClock.now
    var all = hops.map { started, hop in
      var hop = hop
      hop.age = started.duration(to: now)
      return hop
    }
    if !all.isEmpty { all[all.count - 1].failure = failure }
    return all
  }
}
