import CCurl
import FerryPlan

/// The end of an exchange, after its last hop.
extension TransferLoop {
  /// Called when the response is complete. Ends the exchange as soon as its digest and its file are complete.
  func settle(_ handle: EasyHandle) {
    guard let exchange = handle.exchange else { return }
    if exchange.hop.hasBody { finishDigest(handle, exchange) }
    if exchange.refusal == nil, exchange.storesBody(status: handle.head.status) {
      do throws(TransportFailure) {
        if case .undecided = exchange.sink { exchange.sink = try exchange.sink(handle.head) }
        if case .file(let file) = exchange.sink {
          exchange.sink = .dropped
          let interruption = StoreInterruption()
          exchange.storing = interruption
          if exchange.deadline != nil { scheduleCheck(of: exchange) }
          let (mailbox, key) = (mailbox, exchange.key)
          let request = exchange.request
          let answer = TransferResponse(
            status: handle.head.status, headers: exchange.fields(of: handle.head), body: [],
            url: exchange.hop.url)
          if exchange.continued != nil { exchange.kept = nil }
          storeWorker.submit { mailbox.post(.stored(key, file.store(answer, for: request, interruption))) }
        }
      } catch {
        exchange.failure = error
      }
    }
    exchange.isSettling = true
    endIfSettled(handle)
  }

  /// Called when the body has been sent or will no longer be sent.
  func finishDigest(_ handle: EasyHandle, _ exchange: Exchange) {
    // Before libcurl takes up a hop, its counter has the value of the hop before.
    let isWhole = exchange.wasReadWhole || exchange.attempts > 0 && handle.bodySent == exchange.bodySize
    exchange.wasSentWhole = isWhole
    switch exchange.digest {
    case .notWanted, .finishing:
      break
    case .streaming:
      if isWhole {
        exchange.digest = .finishing
        hashThread.finish(exchange.key)
      } else {
        // If the server responded before it had received the whole body, it does not have the file that the digest
        // describes.
        exchange.digest = .notWanted
        hashThread.reset(exchange.key)
      }
    case .done:
      if !isWhole { exchange.digest = .notWanted }
    }
  }

  func endIfSettled(_ handle: EasyHandle) {
    guard let exchange = handle.exchange, exchange.isSettling, !exchange.isStoring else { return }
    if var failure = exchange.failure {
      if case .finishing = exchange.digest { return }
      failure.mayHaveReachedServer = true
      return end(handle, .failure(failure))
    }
    var sha256: [UInt8]?
    switch exchange.digest {
    case .streaming, .finishing: return
    case .notWanted: break
    case .done(let bytes): sha256 = bytes
    }
    let fields = exchange.fields(of: handle.head)
    let body: (bytes: [UInt8], coding: String?)
    switch exchange.decodedBody(of: handle.head) {
    case .success((let bytes, let coding)): body = (bytes, coding)
    case .failure(let failure): return end(handle, .failure(failure))
    }
    let answer = TransferResponse(
      status: handle.head.status, headers: fields, reason: handle.head.reason,
      isReasonCut: handle.head.isReasonCut, body: body.bytes,
      isBodyCut: exchange.responseBody > exchange.body.count, url: exchange.hop.url, sha256: sha256,
      refusal: exchange.refusal, storedFile: exchange.storedFile,
      withheld: exchange.withheld.isEmpty
        ? nil : OriginGuard.explanation(exchange.withheld, at: CurlURL(exchange.hop.url)?.origin),
      challengeProblem: exchange.challengeProblem, isCloseDelimited: exchange.framing == .untilClose,
      unrequestedCoding: body.coding,
      isContinued: exchange.continued != nil, askedForRest: exchange.askedForRest,
      isReferred: exchange.isReferred)
    end(handle, .success(answer))
  }

  // MARK: The end of an exchange

  /// Removes an exchange from libcurl and ends it with a failure.
  func stop(_ handle: EasyHandle, _ failure: TransportFailure) {
    curl_multi_remove_handle(multi, handle.curl)
    handle.closeHop(succeeded: false)
    var failure = failure
    failure.mayHaveReachedServer = handle.exchange?.hasReachedServer ?? false
    fail(handle, failure)
  }

  /// Ends an exchange, which was removed from libcurl, with a failure. If the server may have received the whole body, its
  /// digest is completed first: what the server has is known, although its response is not.
  func fail(_ handle: EasyHandle, _ failure: TransportFailure) {
    guard let exchange = handle.exchange else { return }
    exchange.failure = failure
    guard failure.mayHaveReachedServer, exchange.hop.hasBody else { return end(handle, .failure(failure)) }
    finishDigest(handle, exchange)
    exchange.isSettling = true
    endIfSettled(handle)
  }

  /// Returns the bytes that the bandwidth limits have granted to an exchange and that it did not use.
  func settleCredits(of handle: EasyHandle, _ exchange: Exchange) {
    guard !exchange.credits.isEmpty else { return }
    handle.spend(exchange.traffic.headersSent, .sending)
    exchange.settleCredits()
  }

  /// The failure of an exchange, with its redirects. If libcurl accepts the URL of a redirect, but cannot send a request to
  /// it, the redirect is the cause.
  private static func describe(_ failure: TransportFailure, _ exchange: Exchange) -> TransportFailure {
    var failure = failure
    failure.isRedirected = exchange.redirects > 0
    if failure.isRedirected, failure.code == .request {
      failure.code = .redirect
      failure.message = "the redirect cannot be followed: \(failure.message)"
    }
    return failure
  }

  func end(_ handle: EasyHandle, _ ownResult: Result<TransferResponse, TransportFailure>) {
    guard let exchange = handle.exchange else { return }
    collectInterim(of: handle)
    switch exchange.digest {
    case .streaming: hashThread.reset(exchange.key)
    case .notWanted, .finishing, .done: break
    }
    settleCredits(of: handle, exchange)
    busy[exchange.key.id] = nil
    if let descriptor = exchange.descriptor, sockets.isRetired(descriptor),
      !busy.values.contains(where: { $0.exchange?.descriptor == descriptor })
    {
      sockets.shutDown(descriptor)
    }
    defer {
      if case .success = ownResult, handle.recycle(), pool.count < Self.pooledHandles { pool.append(handle) }
    }
    guard let result = endSegment(exchange, ownResult.mapError { Self.describe($0, exchange) }) else {
      return
    }
    let segments = exchange.segments
    let traffic = segments?.traffic ?? exchange.traffic
    endedTraffic += traffic
    let started = segments?.started ?? exchange.started
    let outcome = TransferOutcome(
      id: segments?.id ?? exchange.key.id, result: result, traffic: traffic,
      duration: started.duration(to: .now), url: exchange.hop.url)
    outcome.method = exchange.hop.method
    outcome.inode = exchange.sourceInode
    if case .failure = result, case .done(let bytes) = exchange.digest, exchange.wasSentWhole {
      outcome.sentSHA256 = bytes
    }
    outcome.sentInLastHop = exchange.sentInHop
    outcome.sentBeforeResend =
      exchange.fileBody?.fileBytes(in: exchange.sentBeforeResend) ?? exchange.sentBeforeResend
    outcome.part = exchange.endPart(of: handle.head)
    outcome.redirectedTo = exchange.hop.url == exchange.request.url ? nil : exchange.hop.url
    if let settings = exchange.request.connection.proxySettings, !result.isSuccess {
      outcome.proxy = settings.address(for: exchange.hop.url)
    }
    outcome.phases = segments?.phases ?? exchange.phases
    outcome.segments = segments?.use
    if exchange.isTraced { outcome.hops = exchange.takeHops(result.failure) }
    ended.append(outcome)
    if exchange.request.reportedInterim != nil { interimCount -= 1 }
  }
}

extension Result<TransferResponse, TransportFailure> {
  fileprivate var failure: TransportFailure? { if case .failure(let failure) = self { failure } else { nil } }

  /// Whether the response's status is a success.
  fileprivate var isSuccess: Bool {
    switch self {
    case .success(let response): 200...299 ~= response.status
    case .failure: false
    }
  }
}
