import CCrypto
import CCurl
import FerryDigest
import FerryPlan

/// One `CURL` easy handle, used for one exchange after another.
///
/// Constant options are set once. Other options are set only if they differ from the previous exchange, because
/// `curl_easy_reset` would free and copy every string for each small file. If libcurl's handles cannot be reused
/// (`CurlLibrary.canReuseHandles`), every hop gets a new handle, which takes 1.5 µs to create.
final class EasyHandle {
  /// Bodies below this size are sent in one packet with their header section: libcurl's
  /// MAX_INITIAL_POST_SIZE.
  static let smallBody: Int64 = 64 << 10

  private(set) var curl: UnsafeMutableRawPointer
  let hashThread: HashThread
  let sockets: SocketLedger
  let turnGuard: StuckTurnGuard
  var exchange: Exchange?
  let head = ResponseHead()

  /// `CURLOPT_ERRORBUFFER`: 256 bytes.
  private let errorText: UnsafeMutablePointer<CChar>
  /// The buffer of `CURLOPT_POSTFIELDS`, which libcurl does not copy.
  private var bodyBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  enum Shape { case get, head, memoryBody, fileBody }
  private var shape = Shape.get
  private var buffers = TransferBuffers()
  private var customMethod: String?
  private let parsedURL = ParsedURL()
  private var headers: HeaderList?
  private var idleTimeout: Duration?
  /// `CURLOPT_DNS_CACHE_TIMEOUT` in seconds; `nil` for libcurl's default.
  var nameTimeout: Int? {
    didSet {
      if let nameTimeout, nameTimeout != oldValue {
        ferry_easy_set_long(curl, CURLOPT_DNS_CACHE_TIMEOUT, nameTimeout)
      }
    }
  }
  private var connection: ConnectionOptions?
  private var isIdentified = false
  private var httpVersion = ConnectionOptions.HTTPVersion.auto
  private var connectionAuthentication: ConnectionAuthentication?
  /// Whether `curl` has been prepared for a transfer.
  private var isUsed = false

  /// Returns `nil` if memory is exhausted.
  init?(hashThread: HashThread, sockets: SocketLedger, turnGuard: StuckTurnGuard) {
    guard let curl = curl_easy_init() else { return nil }
    self.curl = curl
    self.hashThread = hashThread
    self.sockets = sockets
    self.turnGuard = turnGuard
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    setConstants()
  }

  deinit {
    curl_easy_cleanup(curl)
    errorText.deallocate()
    bodyBuffer.deallocate()
  }

  private func setConstants() {
    ferry_easy_set_long(curl, CURLOPT_NOSIGNAL, 1)
    // Removing a handle must not wait for name resolution.
    ferry_easy_set_long(curl, CURLOPT_QUICK_EXIT, 1)
    ferry_easy_set_string(curl, CURLOPT_PROTOCOLS_STR, "http,https")
    ferry_easy_set_pointer(curl, CURLOPT_ERRORBUFFER, errorText)
    // The loop keeps the handle object alive while libcurl uses it.
    let context = Unmanaged.passUnretained(self).toOpaque()
    ferry_easy_set_pointer(curl, CURLOPT_PRIVATE, context)
    ferry_easy_set_pointer(curl, CURLOPT_READDATA, context)
    ferry_easy_set_pointer(curl, CURLOPT_SEEKDATA, context)
    ferry_easy_set_pointer(curl, CURLOPT_WRITEDATA, context)
    ferry_easy_set_pointer(curl, CURLOPT_HEADERDATA, context)
    ferry_easy_set_pointer(curl, CURLOPT_PREREQDATA, context)
    setCallbacks()
    setSocketCallbacks()
  }

  /// Replaces a used easy handle with a new one. The caller has removed the old one from the multi handle.
  private func renew() throws(TransportFailure) {
    guard let fresh = curl_easy_init() else { throw Self.malformed("out of memory") }
    curl_easy_cleanup(curl)
    curl = fresh
    shape = .get
    buffers = TransferBuffers()
    customMethod = nil
    headers = nil
    idleTimeout = nil
    nameTimeout = nil
    connection = nil
    setConstants()
  }

  /// The handle that a libcurl message refers to.
  static func of(_ curl: UnsafeMutableRawPointer) -> EasyHandle? {
    var context: UnsafeMutableRawPointer?
    guard ferry_easy_get_pointer(curl, CURLINFO_PRIVATE, &context) == CURLE_OK, let context else {
      return nil
    }
    return Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: One hop

  /// Configures the handle for the exchange's hop and opens the source of its body.
  ///
  /// Fails with `request`, or with a failure of the source.
  func prepare(_ exchange: Exchange) throws(TransportFailure) {
    head.reset()
    errorText[0] = 0
    let scheme = exchange.hop.connectionAuthentication
    let isOtherConnection =
      connection !== exchange.request.connection || isIdentified != exchange.isIdentified || scheme != nil
      || httpVersion != exchange.request.httpVersion || connectionAuthentication != nil
    // Unset options have their defaults only in a new handle.
    if isUsed, !CurlLibrary.canReuseHandles || isOtherConnection { try renew() }
    isUsed = true
    if connection == nil {
      (connection, isIdentified) = (exchange.request.connection, exchange.isIdentified)
      httpVersion = exchange.request.httpVersion
      try set(exchange.request.connection, isIdentified: exchange.isIdentified, httpVersion)
    }
    if exchange.needsNewConnection { ferry_easy_set_long(curl, CURLOPT_FRESH_CONNECT, 1) }
    connectionAuthentication = scheme
    if let scheme, let authentication = exchange.request.authentication { try set(scheme, authentication) }
    try setMethodAndBody(exchange)
    let isLimited = exchange.request.byteLimit != nil || !exchange.credits.isEmpty
    setBuffers(TransferBuffers(shape, bodySize: exchange.bodySize, isLimited: isLimited))
    if headers !== exchange.headers {
      headers = exchange.headers
      ferry_easy_set_pointer(curl, CURLOPT_HTTPHEADER, exchange.headers.slist)
    }
    if idleTimeout != exchange.request.idleTimeout {
      idleTimeout = exchange.request.idleTimeout
      // 0 would mean libcurl's default of 300 seconds.
      let milliseconds = max(1, min(exchange.request.idleTimeout.nanoseconds / 1_000_000, Int64(Int32.max)))
      ferry_easy_set_long(curl, CURLOPT_CONNECTTIMEOUT_MS, Int(milliseconds))
    }
    if exchange.isTraced { startTracing() }
    let url = exchange.hop.sentURL(of: exchange.request)
    guard ferry_easy_set_string(curl, CURLOPT_URL, url) == CURLE_OK else {
      throw Self.malformed("the URL is too long")
    }
    // libcurl reports the error in a URL that it cannot parse.
    let parsed = parsedURL.flatMap { $0.set(url) ? $0.handle : nil }
    ferry_easy_set_pointer(curl, CURLOPT_CURLU, parsed.map { UnsafeMutableRawPointer($0) })
  }

  private func setMethodAndBody(_ exchange: Exchange) throws(TransportFailure) {
    let method = exchange.hop.method
    exchange.offset = 0
    exchange.bodySize = 0
    guard exchange.hop.hasBody else {
      exchange.file = nil
      switch method {
      case "HEAD": set(.head, method: nil)
      case "GET": set(.get, method: nil)
      case "POST", "PUT", "PATCH":
        // These methods announce a body even if it is empty, because servers require `Content-Length: 0`.
        set(.memoryBody, method: method == "POST" ? nil : method)
        setMemoryBody(size: 0)
      default: set(.get, method: method)
      }
      try checkLength(exchange)
      try compareQueried(exchange)
      return
    }
    guard method != "HEAD" else { throw Self.malformed("a HEAD request cannot have a body") }
    let custom = method == "POST" ? nil : method
    switch exchange.request.body {
    case .none:
      preconditionFailure("a hop has a body only if its request has one")
    case .bytes(let bytes):
      exchange.bodySize = Int64(bytes.count)
      try checkLength(exchange)
      try checkSending(exchange)
      if exchange.redirects == 0 {
        reserve(bytes.count)
        bodyBuffer.copyBytes(from: bytes)
      }
      set(.memoryBody, method: custom)
      setMemoryBody(size: exchange.bodySize)
    case .file, .form:
      guard let body = exchange.fileBody else { preconditionFailure("the body contains a file") }
      exchange.bodySize = body.size
      try checkLength(exchange)
      try checkSending(exchange)
      try checkRepetition(exchange)
      if body.size < Self.smallBody {
        if exchange.redirects == 0 { try readSmall(body, exchange) }
        set(.memoryBody, method: custom)
        setMemoryBody(size: body.size)
      } else {
        if exchange.redirects == 0 { exchange.file = try UploadFile(body.source) }
        restart(exchange)
        set(.fileBody, method: custom)
        ferry_easy_set_off(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.size))
      }
    }
  }

  /// Compares the file whose upload the request queries with its listing.
  private func compareQueried(_ exchange: Exchange) throws(TransportFailure) {
    guard let source = exchange.request.queriedFile, exchange.redirects == 0 else { return }
    do throws(TransportFailure) {
      exchange.sourceInode = try UploadFile(source).inode
    } catch {
      // The server may have the listed version of a file that is no longer there.
      if source.size == 0 { throw error }
    }
  }

  /// Reads a small body into memory. The file's descriptor is closed after the read, so the bytes sent are the
  /// bytes read.
  private func readSmall(_ body: FileBody, _ exchange: Exchange) throws(TransportFailure) {
    let file = try UploadFile(body.source, check: .afterRead)
    reserve(Int(body.size))
    let content = body.prefix.count..<body.prefix.count + Int(body.source.length)
    bodyBuffer.copyBytes(from: body.prefix)
    try file.readAll(into: UnsafeMutableRawBufferPointer(rebasing: bodyBuffer[content]))
    UnsafeMutableRawBufferPointer(rebasing: bodyBuffer[content.upperBound...]).copyBytes(from: body.suffix)
    exchange.sourceInode = file.inode
    guard body.source.wantsSHA256 else { return }
    let bytes = UnsafeRawBufferPointer(rebasing: bodyBuffer[content])
    let hasher = SHA256()
    hasher.update(bytes)
    exchange.digest = .done(hasher.finalize())
  }

  /// Resets the exchange so that the body is read from its first byte.
  func restart(_ exchange: Exchange) {
    exchange.offset = 0
    guard let file = exchange.file, file.source.wantsSHA256 else { return }
    hashThread.reset(exchange.key)
    exchange.digest = .streaming
  }

  private func checkLength(_ exchange: Exchange) throws(TransportFailure) {
    guard let declared = exchange.headers.declaredLength, declared != exchange.bodySize else { return }
    throw Self.malformed("the Content-Length header does not equal the size of the body")
  }

  private func set(_ new: Shape, method: String?) {
    if new != shape {
      shape = new
      switch new {
      case .get:
        ferry_easy_set_pointer(curl, CURLOPT_POSTFIELDS, nil)
        ferry_easy_set_long(curl, CURLOPT_HTTPGET, 1)
      case .head:
        ferry_easy_set_pointer(curl, CURLOPT_POSTFIELDS, nil)
        ferry_easy_set_long(curl, CURLOPT_NOBODY, 1)
      case .memoryBody:
        ferry_easy_set_long(curl, CURLOPT_POST, 1)
      case .fileBody:
        // With CURLOPT_POST, libcurl reads the body from the read callback, regardless of the method's name.
        // Unlike with CURLOPT_UPLOAD, it sends `Expect: 100-continue` only above 1 MiB.
        ferry_easy_set_pointer(curl, CURLOPT_POSTFIELDS, nil)
        ferry_easy_set_long(curl, CURLOPT_POST, 1)
      }
    }
    if method != customMethod {
      customMethod = method
      ferry_easy_set_string(curl, CURLOPT_CUSTOMREQUEST, method)
    }
  }

  private func setBuffers(_ new: TransferBuffers) {
    if new.receiving != buffers.receiving { ferry_easy_set_long(curl, CURLOPT_BUFFERSIZE, new.receiving) }
    if new.sending != buffers.sending { ferry_easy_set_long(curl, CURLOPT_UPLOAD_BUFFERSIZE, new.sending) }
    buffers = new
  }

  private func setMemoryBody(size: Int64) {
    // If the address were null, libcurl would request the body from the read callback.
    if bodyBuffer.baseAddress == nil { reserve(1) }
    ferry_easy_set_pointer(curl, CURLOPT_POSTFIELDS, bodyBuffer.baseAddress)
    ferry_easy_set_off(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(size))
  }

  private func reserve(_ count: Int) {
    guard bodyBuffer.count < count else { return }
    bodyBuffer.deallocate()
    bodyBuffer = .allocate(byteCount: max(count, 2048), alignment: 16)
  }

  // MARK: After the exchange

  /// Releases the exchange if the next exchange can reuse the handle, and returns whether it can. libcurl
  /// counts resends over the lifetime of a handle, and keeps state after a failure or after a URL with a user
  /// name and password.
  func recycle() -> Bool {
    guard let exchange, exchange.attempts == 1, exchange.redirects == 0, exchange.failure == nil,
      exchange.refusal == nil, !exchange.needsNewConnection,
      exchange.hop.url.allBytes({ $0 != UInt8(ascii: "@") })
    else { return false }
    self.exchange = nil
    if bodyBuffer.count > Self.smallBody {
      set(.get, method: nil)
      bodyBuffer.deallocate()
      bodyBuffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
    return true
  }

  /// libcurl's message for the failure; empty if there is none.
  var curlText: String { String(cString: errorText) }

  var systemError: CInt {
    var value = 0
    let isKnown = ferry_easy_get_long(curl, CURLINFO_OS_ERRNO, &value) == CURLE_OK
    return isKnown ? CInt(truncatingIfNeeded: value) : 0
  }

  /// The status of a proxy's response to CONNECT; 0 if there was none.
  var connectStatus: Int {
    var value = 0
    return ferry_easy_get_long(curl, CURLINFO_HTTP_CONNECTCODE, &value) == CURLE_OK ? value : 0
  }

  /// The result of the verification of the server's certificate, as for SSL_get_verify_result(3).
  var verifyResult: CInt {
    var value = 0
    let isKnown = ferry_easy_get_long(curl, CURLINFO_SSL_VERIFYRESULT, &value) == CURLE_OK
    return isKnown ? CInt(truncatingIfNeeded: value) : X509_V_OK
  }

  /// Body bytes sent in this hop, not counting resends.
  var bodySent: Int64 {
    var value: curl_off_t = 0
    return ferry_easy_get_off(curl, CURLINFO_SIZE_UPLOAD_T, &value) == CURLE_OK ? Int64(value) : 0
  }

  /// Bytes of the request lines and header fields sent in this hop.
  func headersSent(bodySent: Int64, attempts: Int) -> Int64 {
    var value = 0
    guard ferry_easy_get_long(curl, CURLINFO_REQUEST_SIZE, &value) == CURLE_OK else { return 0 }
    // CURLINFO_REQUEST_SIZE includes the body bytes that were sent together with the header section, once
    // for each attempt. Over HTTP/2, no body bytes are included.
    var version = 0
    ferry_easy_get_long(curl, CURLINFO_HTTP_VERSION, &version)
    let isTogether =
      shape == .memoryBody && bodySent < Self.smallBody && version <= Int(CURL_HTTP_VERSION_1_1)
    return max(0, Int64(value) - (isTogether ? bodySent * Int64(max(1, attempts)) : 0))
  }

  /// The remote address of the last hop's connection; `nil` if there was none.
  var peer: SocketAddress? {
    var host: UnsafeMutableRawPointer?
    var port = 0
    guard ferry_easy_get_pointer(curl, CURLINFO_PRIMARY_IP, &host) == CURLE_OK, let host,
      ferry_easy_get_long(curl, CURLINFO_PRIMARY_PORT, &port) == CURLE_OK
    else { return nil }
    let name = String(cString: host.assumingMemoryBound(to: CChar.self))
    return SocketAddress(host: name, port: UInt16(truncatingIfNeeded: port))
  }

  static func malformed(_ message: String) -> TransportFailure {
    TransportFailure(.request, message, mayHaveReachedServer: false)
  }
}
