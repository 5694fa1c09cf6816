import CCurl
import FerryDigest
import FerryPlan
import FerryProcess

/// Runs all transfers on one libcurl multi handle and on the thread that calls `turn`.
///
/// It is not Sendable because it belongs to that thread. Only its `waker` may be passed to other threads.
package final class TransferLoop {
  /// The number of idle handles kept; each takes a few KiB.
  static let pooledHandles = 256

  let multi: UnsafeMutableRawPointer
  let mailbox: Mailbox<TransferMessage>
  /// Ends a turn's wait from any thread.
  package let waker = TransferWaker()
  /// The ledger must outlive `curl_multi_cleanup`, which closes sockets through it.
  let sockets: SocketLedger
  let turnGuard: StuckTurnGuard
  /// The remote addresses of the connections that `turnGuard` shut down during the current call to libcurl.
  var shutDown: [SocketAddress] = []
  let hashThread: HashThread
  let storeWorker: SerialWorker

  /// The bandwidth limits, by name.
  var bandwidths: [String: Bandwidth] = [:]
  /// Whether outcomes contain their `hops`.
  package var isTracing = false

  private var headerCache = HeaderCache()
  var signingKeys = AWSSigningKeys()
  var authentications = AuthenticationCache()
  var pool: [EasyHandle] = []
  var busy: [UInt64: EasyHandle] = [:]
  /// The downloads over several connections, by the caller's ID.
  var segmented: [UInt64: SegmentedDownload] = [:]
  private var serial: UInt64 = 0
  var ended: [TransferOutcome] = []
  /// The traffic of all completed requests.
  var endedTraffic = Traffic()
  var interim: [InterimResponse] = []
  /// The number of requests in flight that report an interim response.
  var interimCount = 0
  /// The hops whose interim responses are ignored, because a redirect followed an earlier one. There are few: their
  /// number is limited by the origins and the limit of redirects.
  var interimBeforeRedirect: Set<InterimPlace> = []
  var digests: [DigestOutcome] = []
  /// The files that `digest` is hashing, by the caller's ID.
  var hashing: [UInt64: FileHashing] = [:]
  /// The time of the next check of the timeouts.
  var nextCheck: SuspendingClock.Instant?
  var now = SuspendingClock.now
  private var caches = ConnectionCaches()

  /// The threads that a loop needs in addition to its own.
  package struct Threads {
    package var hash: SerialWorker
    package var store: SerialWorker
    /// Checks the loop's own thread periodically.
    package var watch: PollThread

    package init(watch: PollThread) throws(ThreadUnavailable) {
      hash = try SerialWorker("ferry-hash")
      store = try SerialWorker("ferry-store")
      self.watch = watch
    }
  }

  /// Creates a loop. Throws `CurlUnavailable` if libcurl cannot be used.
  package convenience init(threads: Threads) throws {
    try self.init(sockets: SocketLedger(), threads: threads)
  }

  init(sockets: SocketLedger, threads: Threads) throws {
    guard CurlLibrary.isReady, let multi = curl_multi_init() else { throw CurlUnavailable() }
    self.multi = multi
    turnGuard = StuckTurnGuard(on: threads.watch)
    self.sockets = sockets
    sockets.turnGuard = turnGuard
    mailbox = Mailbox { [waker] in waker.interrupt() }
    hashThread = HashThread(worker: threads.hash, mailbox: mailbox)
    storeWorker = threads.store
    waker.open(multi)
  }

  deinit {
    waker.close()
    for handle in busy.values { curl_multi_remove_handle(multi, handle.curl) }
    // Easy handles must be freed before their multi handle.
    busy.removeAll()
    pool.removeAll()
    curl_multi_cleanup(multi)
  }

  /// The versions of libcurl and of the libraries with which it was built.
  package static var curlVersion: String { CurlLibrary.version }

  /// Must be called when the run is to stop. If a call to libcurl then does not return, the process ends
  /// (`StuckTurnGuard`). May be called on any thread.
  package var runMustStop: @Sendable () -> Void { { [turnGuard] in turnGuard.runMustStop() } }

  /// Allows requests to be sent only while a condition holds.
  package func send(while isAllowed: @escaping () -> Bool) { sockets.mayStillSend = isAllowed }

  /// The number of requests that were started and have not ended.
  package var inFlight: Int { busy.count }

  /// The traffic so far of the requests in flight.
  package var progress: Traffic {
    var sum = busy.values.reduce(into: Traffic()) { $0 += $1.traffic }
    for segments in segmented.values { sum += segments.traffic }
    return sum
  }

  /// The traffic so far of one request in flight; zero if it is not in flight.
  package func traffic(of id: UInt64) -> Traffic {
    guard let segments = segmented[id] else { return busy[id]?.traffic ?? Traffic() }
    return segments.running.values.reduce(into: segments.traffic) { $0 += $1.traffic }
  }

  // MARK: Requests from the caller

  /// Starts a request. If it cannot be started, it ends with its failure in the next turn.
  package func start(_ written: consuming TransferRequest) {
    // The request is moved, because it is large.
    var request = consume written
    let (id, reportsInterim) = (request.id, request.reportedInterim != nil)
    // `OriginGuard` decides whether these fields are sent before the request is signed.
    if let signing = request.signing { request.headers += signing.placeholders }
    if let token = request.queryToken { request.headers.append(token.placeholder) }
    if let authentication = request.authentication { request.headers.append(authentication.placeholder) }
    precondition(busy[id] == nil && segmented[id] == nil, "an ID in flight must not be reused")
    // Opening the file and reading a small one may block.
    turnGuard.begin()
    defer { _ = turnGuard.end() }
    now = .now
    let key = nextKey(id)
    do throws(TransportFailure) {
      try RequestCheck.check(request)
      var (hop, withheld) = try OriginGuard.firstHop(request)
      hop.setCondition(of: request)
      let kept = DownloadFile.kept(for: request)
      let range = RangeRequest(after: kept?.record, request)
      hop.setRange(range, of: kept?.record, request)
      try hop.sign(request, after: .zero, &signingKeys)
      try authenticate(&hop, request)
      let (headers, credits) = (try headers(of: hop, request), credits(for: request.limits))
      let exchange = Exchange(
        key: key, request: consume request, hop: hop, headers: headers, withheld: withheld,
        isTraced: isTracing,
        credits: credits, now: now)
      (exchange.kept, exchange.keptBefore, exchange.range) = (kept, kept?.size ?? 0, range)
      switch range {
      case .whole, .rest: break
      case .first, .range:
        let segments = SegmentedDownload(id: id, exchange.request, at: now)
        segments.keptBefore = exchange.keptBefore
        exchange.segments = segments
        segmented[id] = segments
      }
      try begin(exchange)
      if reportsInterim { interimCount += 1 }
    } catch {
      segmented[id] = nil
      ended.append(
        TransferOutcome(id: id, result: .failure(error), traffic: Traffic(), duration: .zero))
    }
  }

  /// - Parameter id: the caller's ID; `nil` for an exchange that the loop adds to a request.
  func nextKey(_ id: UInt64? = nil) -> TransferKey {
    serial += 1
    // The caller counts its IDs upward.
    return TransferKey(id: id ?? .max - serial, serial: serial)
  }

  /// Gives an exchange a handle and starts its first hop. Throws `request`.
  func begin(_ exchange: Exchange) throws(TransportFailure) {
    guard
      let handle = pool.popLast()
        ?? EasyHandle(hashThread: hashThread, sockets: sockets, turnGuard: turnGuard)
    else {
      throw EasyHandle.malformed("out of memory")
    }
    do throws(TransportFailure) {
      try handle.prepare(exchange)
    } catch {
      pool.append(handle)
      throw error
    }
    handle.exchange = exchange
    busy[exchange.key.id] = handle
    caches.keepConnections(of: busy.count, multi)
    exchange.segments?.begin(handle, exchange.key)
    add(handle)
  }

  /// Ends a request as `cancelled`: in the next turn or, if the checksum of its file is being computed, after the next
  /// piece. Has no effect if the request has completed, or if it waits only for the digest of its body or for the file's
  /// sync.
  package func cancel(_ id: UInt64) {
    guard let handle = busy[id] ?? segmented[id]?.running.values.first, let exchange = handle.exchange else {
      return
    }
    guard !exchange.isSettling else {
      exchange.storing?.interrupt(TransportFailure(.cancelled, "canceled", mayHaveReachedServer: true))
      return
    }
    now = .now
    stop(handle, TransportFailure(.cancelled, "canceled", mayHaveReachedServer: false))
  }

  /// Hashes a file, or the part of it to send, on the helper thread, with the same checks as an upload's source. The
  /// outcome ends a later turn; `takeDigests()` returns it.
  ///
  /// - Parameter timeLimit: after this time, the outcome is `resourceTimeout`; `nil` for no limit.
  package func digest(
    id: UInt64, source: TransferRequest.FileSource, algorithm: DigestAlgorithm = .sha256,
    timeLimit: Duration? = nil
  ) {
    now = .now
    let key = nextKey(id)
    let hashing = FileHashing(
      key: key, name: source.name, deadline: timeLimit.map { now.advanced(by: $0) })
    self.hashing[id] = hashing
    scheduleCheck(of: hashing)
    hashThread.hash(key, source, algorithm)
  }

  /// Stops hashing a file without reporting an outcome. Has no effect if the hashing has ended.
  package func cancelDigest(_ id: UInt64) {
    guard let hashing = hashing.removeValue(forKey: id) else { return }
    hashThread.cancel(hashing.key)
  }

  /// Removes and returns the digests that completed since the last call.
  package func takeDigests() -> [DigestOutcome] {
    defer { digests = [] }
    return digests
  }

  /// Removes and returns the interim responses that have arrived since the last call.
  package func takeInterim() -> [InterimResponse] {
    defer { interim = [] }
    return interim
  }

  /// Collects an interim response before its request can end.
  func collectInterim(of handle: EasyHandle) {
    guard let exchange = handle.exchange, let response = exchange.interim else { return }
    exchange.interim = nil
    interim.append(InterimResponse(id: exchange.key.id, response: response))
  }

  func add(_ handle: EasyHandle) {
    handle.nameTimeout = caches.nameTimeout(at: now)
    if let exchange = handle.exchange { chooseInterim(of: exchange) }
    guard let exchange = handle.exchange, !exchange.credits.isEmpty else { return addToLibcurl(handle) }
    admit(handle)
    if exchange.isHeld { scheduleCheck(of: exchange) }
  }

  func addToLibcurl(_ handle: EasyHandle) {
    let code = curl_multi_add_handle(multi, handle.curl)
    guard code == CURLM_OK, let exchange = handle.exchange else {
      stop(handle, EasyHandle.malformed("libcurl: \(String(cString: curl_multi_strerror(code)))"))
      return
    }
    scheduleCheck(of: exchange)
  }

  /// The header list of a hop. The lists of signed requests are not cached: a signature differs in every
  /// request, so they would only displace other lists. The same applies to
  /// the response to a challenge.
  func headers(
    of hop: RedirectPolicy.Hop, _ request: TransferRequest
  ) throws(TransportFailure) -> HeaderList {
    guard request.authentication != nil || request.queryToken != nil else {
      return request.signing == nil ? try headerCache.list(hop.headers) : try HeaderList(hop.headers)
    }
    var fields = hop.headers.filter { field in
      switch field.role {
      case .field, .signature: true
      case .credentials, .queryToken: false
      }
    }
    if let authorization = hop.authorization {
      fields.append(.init(name: "Authorization", value: authorization))
    }
    return try HeaderList(fields)
  }
}
