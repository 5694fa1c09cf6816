import CCurl
import FerryPlan

/// A server that sends an interim response with a URL, and then redirects the request.
struct InterimPlace: Hashable {
  private let origin: Origin?
  /// The number of redirects before the hop.
  private let redirects: Int

  init(_ exchange: Exchange) {
    origin = CurlURL(exchange.hop.url)?.origin
    redirects = exchange.redirects
  }
}

/// The end of a hop: the request follows a redirect, is sent again, or has its response.
extension TransferLoop {
  /// Continues after libcurl has finished a hop. Returns whether another hop was started.
  func complete(_ handle: EasyHandle, _ code: CURLcode) -> Bool {
    handle.closeHop(succeeded: code == CURLE_OK)
    guard let exchange = handle.exchange else { return false }
    if exchange.needsOtherConnection {
      // libcurl keeps a connection of HTTP/2, and would choose it again.
      exchange.needsNewConnection = exchange.mayBeHTTP2
      return startHop(handle, exchange)
    }
    if exchange.needsOtherRange { return resend(handle, exchange) }
    guard code == CURLE_OK || exchange.refusal != nil, exchange.failure == nil else {
      var failure = exchange.failure ?? CurlFailure.failure(code, of: handle, shutDown: shutDown)
      // If a handshake failed, the server did not read a request that it received during the handshake.
      if failure.code != .certificate { failure.mayHaveReachedServer = exchange.hasReachedServer }
      fail(handle, failure)
      return false
    }
    // No part of a response is used before it is known to be complete.
    if exchange.refusal == nil, let failure = handle.incompleteness() {
      fail(handle, failure)
      return false
    }
    if let descriptor = exchange.descriptor, !handle.head.isHTTP2 { sockets.setIdle(descriptor) }
    if let isContinuing = continueSegments(handle, exchange) { return isContinuing }
    if let isRestarted = restartRange(handle, exchange) { return isRestarted }
    if answersChallenge(handle, exchange) {
      return exchange.hasInterim ? refer(handle, exchange) : follow(handle, exchange)
    }
    guard RedirectPolicy.isFollowed(status: handle.head.status, method: exchange.hop.method) else {
      settle(handle)
      return false
    }
    let location = handle.head.fields.first { $0.name.isField("location") }?.value
    switch RedirectPolicy.decide(
      status: handle.head.status, location: location, hop: exchange.hop,
      sensitive: exchange.request.sensitive, rules: exchange.request.redirects,
      isPinned: exchange.request.isPinned, followed: exchange.redirects)
    {
    case .stay:
      settle(handle)
      return false
    case .refuse(let reason):
      fail(handle, TransportFailure(.redirect, reason, mayHaveReachedServer: true))
      return false
    case .follow(let hop, let withheld):
      if exchange.hasInterim {
        interimBeforeRedirect.insert(InterimPlace(exchange))
        return refer(handle, exchange)
      }
      return follow(handle, exchange, to: hop, withheld)
    }
  }

  /// Ends an exchange whose request would be sent again, but to which an interim response has assigned a URL. The caller
  /// must first forget that URL: it belongs to the request that was not executed.
  private func refer(_ handle: EasyHandle, _ exchange: Exchange) -> Bool {
    exchange.isReferred = true
    settle(handle)
    return false
  }

  /// Determines whether the interim responses to the hop that is about to start are ignored: those of a hop that the
  /// server will probably redirect, and those within a handshake, which consists of several requests.
  func chooseInterim(of exchange: Exchange) {
    guard exchange.request.reportedInterim != nil else { return }
    exchange.ignoresInterim =
      exchange.hop.connectionAuthentication != nil
      || !interimBeforeRedirect.isEmpty && interimBeforeRedirect.contains(InterimPlace(exchange))
  }

  /// Sends the hop's request again with credentials for the server's challenge.
  private func follow(_ handle: EasyHandle, _ exchange: Exchange) -> Bool {
    do throws(TransportFailure) {
      try authenticate(&exchange.hop, exchange.request)
      exchange.headers = try headers(of: exchange.hop, exchange.request)
    } catch {
      end(handle, .failure(error))
      return false
    }
    // The server did not execute the request (RFC 9110, section 15.5.2).
    if exchange.redirects == 0 { exchange.hasReachedServer = false }
    return startHop(handle, exchange)
  }

  private func follow(
    _ handle: EasyHandle, _ exchange: Exchange, to target: RedirectPolicy.Hop,
    _ withheld: [OriginGuard.Withheld]
  ) -> Bool {
    var hop = target
    hop.setCondition(of: exchange.request)
    let record = exchange.segments?.document?.record ?? exchange.kept?.record
    hop.setRange(exchange.range, of: record, exchange.request)
    exchange.withheld += withheld
    exchange.redirects += 1
    do throws(TransportFailure) {
      try hop.sign(exchange.request, after: exchange.started.duration(to: now), &signingKeys)
      try authenticate(&hop, exchange.request)
      exchange.headers = try headers(of: hop, exchange.request)
      if exchange.hop.hasBody, !hop.hasBody { finishDigest(handle, exchange) }
      // Another server may ask for credentials too.
      if CurlURL(exchange.hop.url)?.origin != CurlURL(hop.url)?.origin { exchange.challengesAnswered = 0 }
      exchange.hop = hop
    } catch {
      var failure = error
      failure.mayHaveReachedServer = true
      end(handle, .failure(failure))
      return false
    }
    return startHop(handle, exchange)
  }

  /// Starts the hop of an exchange that libcurl is not processing. Returns whether it was started.
  func startHop(_ handle: EasyHandle, _ exchange: Exchange) -> Bool {
    exchange.startHop(now: now)
    do throws(TransportFailure) {
      try handle.prepare(exchange)
      add(handle)
      return true
    } catch {
      var failure = error
      failure.mayHaveReachedServer = exchange.hasReachedServer
      end(handle, .failure(failure))
      return false
    }
  }
}
