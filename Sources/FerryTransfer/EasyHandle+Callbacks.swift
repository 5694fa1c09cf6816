import CCurl
import FerryPlan

/// The callbacks that libcurl calls while it performs a transfer. The context of every callback is the handle
/// object, which outlives libcurl's use of it.
extension EasyHandle {
  /// The maximum number of times that libcurl sends one request, for example in the handshakes of NTLM and Negotiate.
  private static let mostAttempts = 16
  /// The maximum number of bytes that wait to be hashed. Beyond it, the body waits for the hash thread.
  private static let hashBacklogLimit = 4 << 20

  func setCallbacks() {
    ferry_easy_set_stream(curl, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      guard let context else { return 0 }
      let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.turnGuard.didCallBack()
        return $0.receiveHeader(line) ? line.count : 0
      }
    }
    ferry_easy_set_stream(curl, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let context else { return 0 }
      let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.turnGuard.didCallBack(passing: piece.count)
        // Returning any count other than the size of the piece aborts the transfer. A piece may be empty.
        return $0.receiveBody(piece) ? piece.count : piece.count + 1
      }
    }
    ferry_easy_set_stream(curl, CURLOPT_READFUNCTION) { bytes, size, count, context in
      guard let context else { return Int(CURL_READFUNC_ABORT) }
      let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        // Before the file is read, which may take long, its size is not known.
        $0.turnGuard.didCallBack(passing: buffer.count)
        return $0.provideBody(buffer)
      }
    }
    ferry_easy_set_seek(curl) { context, offset, origin in
      guard let context else { return CURL_SEEKFUNC_FAIL }
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.rewind(to: Int64(offset), origin: origin) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
      }
    }
    ferry_easy_set_prereq(curl) { context, host, localHost, port, localPort in
      guard let context, let host, let localHost else { return CURL_PREREQFUNC_ABORT }
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        // One call may complete many TLS handshakes, each of which reads about this number of bytes.
        $0.turnGuard.didCallBack(passing: 8 << 10)
        let descriptor = $0.sockets.descriptor(
          localPort: UInt16(truncatingIfNeeded: localPort),
          .init(
            host: String(cString: host), port: UInt16(truncatingIfNeeded: port),
            localHost: String(cString: localHost)))
        return $0.maySend(over: descriptor) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      }
    }
  }

  /// `CURLOPT_PREREQFUNCTION`: the connection is established, and the request is about to be sent.
  ///
  /// libcurl calls this callback again before it resends the request. In that case, a reused connection was
  /// lost before any response, the server rejected the `Expect` of the first request (417) without executing
  /// that request, or libcurl authenticates with the server or the proxy (401, 407).
  private func maySend(over descriptor: CInt?) -> Bool {
    guard let exchange else { return false }
    guard sockets.mayStillSend() else { return stop(exchange) }
    exchange.descriptor = descriptor
    let mayResend = mayResend(exchange)
    guard exchange.attempts == 0 || mayResend && (!exchange.request.atMostOnce || isRefused) else {
      exchange.attempts += 1
      // libcurl has already reset its counter, and the offset if it has rewound the body.
      if case .file(let source) = exchange.request.body, exchange.hop.hasBody {
        exchange.sentBeforeResend = exchange.file == nil ? source.length : exchange.handedOver
      }
      // Otherwise, `rewind` has reset the digest.
      if exchange.request.atMostOnce, !isRefused {
        exchange.wasReadWhole =
          exchange.file == nil || exchange.redirects == 0 && exchange.handedOver == exchange.bodySize
      }
      if isRefused, !mayResend {
        // After a 417, as after a challenge, the server has not executed the request.
        if exchange.redirects == 0 { exchange.hasReachedServer = false }
        exchange.failure = noRoom(exchange)
        return false
      }
      fail(
        .connectionLost,
        mayResend
          ? "the connection was lost before the response, and the request must not be sent twice"
          : "the connection was lost before the response, and the budget does not allow the request to be sent twice"
      )
      return false
    }
    guard exchange.attempts < Self.mostAttempts else {
      fail(
        .malformedResponse,
        "authenticating the connection takes more than \(Self.mostAttempts) requests")
      return false
    }
    let session = TLSSession(of: curl)
    let isAssumed = exchange.request.httpVersion == .http2PriorKnowledge
    exchange.mayBeHTTP2 = isAssumed || session?.isHTTP2 ?? exchange.hop.isSecure
    if let descriptor, !sockets.mayUse(descriptor, session) {
      exchange.needsOtherConnection = true
      return false
    }
    if let descriptor {
      sockets.mark(descriptor, isBackground: exchange.request.connection.isBackground)
      if exchange.mayBeHTTP2 { sockets.combinePackets(of: descriptor) }
    }
    exchange.attempts += 1
    // After a 417 response to a part of the body, libcurl 7.88 does not request the body from its start.
    if exchange.offset != 0, exchange.file != nil { restart(exchange) }
    if exchange.attempts > 1, exchange.hop.connectionAuthentication != nil, 200...299 ~= head.status {
      exchange.handshakeHadSuccess = true
    }
    // A proxy's response to CONNECT is not the server's response.
    head.startOver()
    exchange.sentAt = .now
    exchange.sentHead = []
    exchange.hasReachedServer = true
    return true
  }

  /// Whether the server has refused the request without executing it. After a 401 or 407, libcurl continues to authenticate
  /// with the server or the proxy.
  private var isRefused: Bool { head.isWhole && [417, 401, 407].contains(head.status) }

  /// Ends a request because this process must not send anything more.
  private func stop(_ exchange: Exchange) -> Bool {
    exchange.failure = TransportFailure(
      .cancelled, "this process no longer owns the shard", mayHaveReachedServer: exchange.attempts > 0)
    return false
  }

  private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let exchange else { return false }
    exchange.headersReceived += Int64(line.count)
    spend(Int64(line.count), .receiving)
    switch head.append(line) {
    case .first:
      exchange.firstByteAt = .now
      // Any response so far was handled by libcurl itself, such as a 417 to its Expect. libcurl now resends
      // the request.
      exchange.bodySentAtResponse = nil
      exchange.body = []
      exchange.responseBody = 0
      exchange.framing = nil
      exchange.continued = nil
      exchange.sink = .undecided
      return true
    case .next:
      return true
    case .last:
      return acceptHeader(of: exchange)
    case .misplaced:
      fail(.malformedResponse, "the response contains a status line inside its header section")
      return false
    case .tooMuch:
      fail(
        .responseTooLarge,
        "the response's header fields exceed \(ResponseHead.byteLimit >> 10) KiB or \(ResponseHead.lineLimit) lines"
      )
      return false
    }
  }

  private func receiveBody(_ piece: UnsafeRawBufferPointer) -> Bool {
    guard let exchange else { return false }
    exchange.bodyReceived += Int64(piece.count)
    exchange.responseBody += Int64(piece.count)
    exchange.segments?.bodyReceived += Int64(piece.count)
    guard mayKeepReceived() else { return false }
    spendReceived(piece.count)
    do throws(TransportFailure) {
      if case .undecided = exchange.sink { exchange.sink = try exchange.sink(head) }
      switch exchange.sink {
      case .undecided, .dropped:
        break
      case .memory(let limit, let isNeeded):
        guard isNeeded || mayDrop(piece.count) else { return false }
        let room = limit - exchange.body.count
        if isNeeded, room < piece.count {
          fail(.responseTooLarge, "the response is larger than \(limit) bytes")
          return false
        }
        if room > 0 { exchange.body.append(contentsOf: piece.prefix(room)) }
      case .file(let file):
        guard mayStoreReceived() else { return false }
        try file.append(piece, at: &exchange.position)
      }
      return true
    } catch {
      exchange.failure = error
      return false
    }
  }

  private func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let exchange, let file = exchange.file else { return Int(CURL_READFUNC_ABORT) }
    guard sockets.mayStillSend() || stop(exchange) else { return Int(CURL_READFUNC_ABORT) }
    if exchange.hashBacklog > Self.hashBacklogLimit {
      exchange.pauses.insert(.hashing)
      return Int(CURL_READFUNC_PAUSE)
    }
    let sendable = sendable(buffer.count)
    guard sendable > 0 || buffer.isEmpty else {
      exchange.pauses.insert(.sending)
      return Int(CURL_READFUNC_PAUSE)
    }
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<sendable])
    do throws(TransportFailure) {
      var filled = 0
      while filled < buffer.count {
        let count = try copyBody(
          exchange, file, into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        guard count > 0 else { break }
        exchange.offset += Int64(count)
        exchange.handedOver += Int64(count)
        filled += count
      }
      spend(Int64(filled), .sending)
      return filled
    } catch {
      exchange.failure = error
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// Copies the next bytes of one part of the body, and returns their number; 0 at the end.
  private func copyBody(
    _ exchange: Exchange, _ file: UploadFile, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransportFailure) -> Int {
    guard let body = exchange.fileBody else { return 0 }
    switch body.part(at: exchange.offset) {
    case .prefix(let index):
      let rest = body.prefix[index...].prefix(buffer.count)
      buffer.copyBytes(from: rest)
      return rest.count
    case .suffix(let index):
      let rest = body.suffix[index...].prefix(buffer.count)
      buffer.copyBytes(from: rest)
      return rest.count
    case .file(let offset):
      let count = try file.read(at: offset, into: buffer)
      if count > 0, file.source.wantsSHA256 {
        hashThread.update(exchange.key, Array(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
        exchange.hashBacklog += count
      }
      return count
    case .end:
      return 0
    }
  }

  /// The hash thread has hashed `count` bytes. A paused body continues once enough are hashed.
  func didHash(_ count: Int) {
    guard let exchange else { return }
    exchange.hashBacklog -= count
    guard exchange.hashBacklog <= Self.hashBacklogLimit / 2 else { return }
    resume(.hashing)
  }

  /// `CURLOPT_SEEKFUNCTION`: libcurl resends the body, always from its start.
  private func rewind(to offset: Int64, origin: CInt) -> Bool {
    guard offset == 0, origin == SEEK_SET, let exchange, exchange.file != nil else { return false }
    do throws(TransportFailure) {
      try checkSending(exchange)
      // A request that must not be sent twice is not resent (`maySend`). The digest is that of what was sent.
      if exchange.request.atMostOnce, exchange.attempts > 0, !isRefused {
        exchange.offset = 0
      } else {
        restart(exchange)
      }
      return true
    } catch {
      exchange.failure = error
      return false
    }
  }

  func fail(_ code: TransportFailure.Code, _ message: String) {
    exchange?.failure = failure(code, message)
  }

  /// A failure of a request that may have reached its server.
  func failure(_ code: TransportFailure.Code, _ message: String) -> TransportFailure {
    let address = exchange.flatMap { CurlFailure.address(of: $0.hop.url) } ?? "the server"
    return TransportFailure(code, "\(address): \(message)", mayHaveReachedServer: true)
  }
}
