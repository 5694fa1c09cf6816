import FerryPlan

/// Downloads of one file over several connections.
extension TransferLoop {
  /// Sends a hop again for `exchange.range`. Returns whether it was started.
  func resend(_ handle: EasyHandle, _ exchange: Exchange) -> Bool {
    exchange.needsOtherRange = false
    // The next response is to another request, which may be challenged again.
    exchange.continued = nil
    exchange.challengesAnswered = 0
    let record = exchange.segments?.document?.record ?? exchange.kept?.record
    exchange.hop.setRange(exchange.range, of: record, exchange.request)
    do throws(TransportFailure) {
      try exchange.hop.sign(exchange.request, after: exchange.started.duration(to: now), &signingKeys)
      try authenticate(&exchange.hop, exchange.request)
      exchange.headers = try headers(of: exchange.hop, exchange.request)
    } catch {
      end(handle, .failure(error))
      return false
    }
    return startHop(handle, exchange)
  }

  /// The statuses with which a server refuses a request to an expired URL.
  private static let expiryStatuses = [400, 401, 403, 404, 410]

  /// Called when a request for a range has been refused. Returns whether it was sent again from the URL of the
  /// download, or `nil` if the refusal is the response.
  ///
  /// A server may redirect to a URL that is valid only for some minutes, such as a presigned URL. The ranges are requested
  /// at the target of the first redirect, so that URL can expire while the document is downloaded.
  func restartRange(_ handle: EasyHandle, _ exchange: Exchange) -> Bool? {
    guard let segments = exchange.segments, segments.document != nil, segments.verdict == nil,
      Self.expiryStatuses.contains(handle.head.status), exchange.hop.url != exchange.request.url,
      !exchange.isRestarted,
      // The response may be a challenge, to which the next request responds.
      handle.head.status != 401 || exchange.request.authentication == nil
    else { return nil }
    do throws(TransportFailure) {
      (exchange.hop, exchange.withheld) = try OriginGuard.firstHop(exchange.request)
      exchange.hop.setCondition(of: exchange.request)
    } catch {
      end(handle, .failure(error))
      return false
    }
    exchange.isRestarted = true
    exchange.redirects = 0
    return resend(handle, exchange)
  }

  /// Called when an exchange has received its range, or the part of it that the server sends. Returns whether it requests
  /// another one, or `nil` if it is the last exchange of the document and stores the file.
  func continueSegments(_ handle: EasyHandle, _ exchange: Exchange) -> Bool? {
    guard let segments = exchange.segments, segments.document != nil, exchange.continued != nil,
      exchange.refusal == nil
    else { return nil }
    segments.keepPhases(of: exchange)
    if let rest = exchange.unreceived { segments.putBack(rest) }
    if let range = segments.next() {
      exchange.range = .range(range)
      exchange.isRestarted = false
      return resend(handle, exchange)
    }
    guard segments.running.count > 1 else { return nil }
    retire(handle, exchange)
    return false
  }

  /// Starts the exchanges for ranges that wait. Called outside of libcurl's callbacks.
  func startSegments() {
    for segments in segmented.values {
      while segments.wantsExchange, let document = segments.document, let range = segments.next() {
        start(range, of: document, segments)
      }
    }
  }

  private func start(
    _ range: Range<Int64>, of document: SegmentedDownload.Document, _ segments: SegmentedDownload
  ) {
    let request = segments.request
    let key = nextKey()
    var hop = document.hop
    hop.setRange(.range(range), of: document.record, request)
    do throws(TransportFailure) {
      try hop.sign(request, after: segments.started.duration(to: now), &signingKeys)
      try authenticate(&hop, request)
      let exchange = Exchange(
        key: key, request: request, hop: hop, headers: try headers(of: hop, request), withheld: [],
        isTraced: isTracing, credits: credits(for: request.limits), now: now)
      exchange.deadline = request.timeLimit.map { segments.started.advanced(by: $0) }
      (exchange.range, exchange.segments) = (.range(range), segments)
      try begin(exchange)
    } catch {
      segments.cannotStart(range)
    }
  }

  /// Ends an exchange for which no range remains.
  private func retire(_ handle: EasyHandle, _ exchange: Exchange) {
    busy[exchange.key.id] = nil
    settleCredits(of: handle, exchange)
    _ = exchange.segments?.end(exchange, nil, rest: nil)
    if handle.recycle(), pool.count < Self.pooledHandles { pool.append(handle) }
  }

  /// Ends an exchange of a download over several connections. Returns the result of the whole download if this was its
  /// last exchange.
  func endSegment(
    _ exchange: Exchange, _ result: Result<TransferResponse, TransportFailure>
  ) -> Result<TransferResponse, TransportFailure>? {
    guard let segments = exchange.segments else { return result }
    let hadVerdict = segments.verdict != nil
    guard segments.end(exchange, result, rest: exchange.unreceived) else {
      segmented[segments.id] = nil
      exchange.hops = segments.allHops
      return segments.verdict ?? result
    }
    if !hadVerdict, segments.verdict != nil {
      let failure = TransportFailure(
        .cancelled, "another range of the document failed", mayHaveReachedServer: true)
      for handle in Array(segments.running.values) { stop(handle, failure) }
    }
    return nil
  }
}

extension Exchange {
  /// The bytes that the exchange has requested of a document with several ranges and has not received.
  fileprivate var unreceived: Range<Int64>? {
    guard segments?.document != nil, case .range(let bytes) = range else { return nil }
    guard continued != nil else { return bytes }
    return min(max(position.offset, bytes.lowerBound), bytes.upperBound)..<bytes.upperBound
  }
}
