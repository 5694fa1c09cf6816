import CCurl
import FerryPlan

/// What libcurl asks and tells while it performs: the context of every callback is the handle object,
/// which outlives libcurl's use of it.
extension EasyHandle {
  /// Above this much unhashed the body waits for the hash thread.
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
        $0.turnGuard.didCallBack()
        // Any other count than the piece's own ends the transfer; a piece may be empty.
        return $0.receiveBody(piece) ? piece.count : piece.count + 1
      }
    }
    ferry_easy_set_stream(curl, CURLOPT_READFUNCTION) { bytes, size, count, context in
      guard let context else { return Int(CURL_READFUNC_ABORT) }
      let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.turnGuard.didCallBack()
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
        let descriptor = $0.sockets.descriptor(
          localPort: UInt16(truncatingIfNeeded: localPort),
          .init(
            host: String(cString: host), port: UInt16(truncatingIfNeeded: port),
            localHost: String(cString: localHost)))
        return $0.maySend(over: descriptor) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      }
    }
  }

  /// `CURLOPT_PREREQFUNCTION`: the connection stands, the request is about to go.
  ///
  /// libcurl comes here a second time when it is about to send the request again: a reused connection died before any
  /// response, or the server refused the `Expect` of the first (417), which it did not carry out then.
  private func maySend(over descriptor: CInt?) -> Bool {
    exchange?.descriptor = descriptor
    guard let exchange else { return false }
    guard exchange.attempts == 0 || !exchange.request.atMostOnce || (head.isWhole && head.status == 417)
    else {
      self.exchange?.attempts += 1
      fail(
        .connectionLost, "the connection broke before the response, and the request must not be sent twice")
      return false
    }
    let session = TLSSession(of: curl)
    self.exchange?.mayBeHTTP2 = session?.isHTTP2 ?? exchange.hop.isSecure
    if let descriptor, !sockets.mayUse(descriptor, session) {
      self.exchange?.needsOtherConnection = true
      return false
    }
    self.exchange?.attempts += 1
    // A proxy's response to CONNECT is none of the server's.
    head.startOver()
    self.exchange?.hasReachedServer = true
    return true
  }

  private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    exchange?.headersReceived += Int64(line.count)
    switch head.append(line) {
    case .first:
      // A response so far was one that libcurl itself dealt with, such as a 417 to its Expect: it sends the request again.
      exchange?.bodySentAtResponse = nil
      exchange?.body = []
      exchange?.responseBody = 0
      exchange?.framing = nil
      exchange?.sink = .undecided
      return true
    case .next:
      return true
    case .last:
      return acceptHeader()
    case .misplaced:
      fail(.malformedResponse, "the response has a status line inside its header section")
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
    exchange?.bodyReceived += Int64(piece.count)
    exchange?.responseBody += Int64(piece.count)
    guard mayKeepReceived() else { return false }
    do throws(TransportFailure) {
      if case .undecided = exchange?.sink {
        if let sink = try exchange?.sink(status: head.status) { exchange?.sink = sink }
      }
      switch exchange?.sink {
      case nil, .undecided, .dropped:
        break
      case .memory(let limit, let isNeeded):
        if !(200...299).contains(head.status), exchange?.responseBody ?? 0 > Self.unwantedBodyLimit {
          fail(
            .responseTooLarge,
            "the body of the \(head.status) response is larger than \(Self.unwantedBodyLimit >> 20) MiB")
          return false
        }
        let room = limit - (exchange?.body.count ?? 0)
        if isNeeded, room < piece.count {
          fail(.responseTooLarge, "the response is larger than \(limit) bytes")
          return false
        }
        if room > 0 { exchange?.body.append(contentsOf: piece.prefix(room)) }
      case .file(let file):
        guard mayStoreReceived() else { return false }
        try file.append(piece)
      }
      return true
    } catch {
      exchange?.failure = error
      return false
    }
  }

  private func provideBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let file = exchange?.file, let offset = exchange?.offset else { return Int(CURL_READFUNC_ABORT) }
    if let backlog = exchange?.hashBacklog, backlog > Self.hashBacklogLimit {
      exchange?.isPaused = true
      return Int(CURL_READFUNC_PAUSE)
    }
    do throws(TransportFailure) {
      let count = try file.read(at: offset, into: buffer)
      if count > 0, file.source.wantsSHA256, let key = exchange?.key {
        hashThread.update(key, Array(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
        exchange?.hashBacklog += count
      }
      exchange?.offset += Int64(count)
      exchange?.handedOver += Int64(count)
      return count
    } catch {
      exchange?.failure = error
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// So many bytes are hashed; the body goes on when enough are.
  func didHash(_ count: Int) {
    exchange?.hashBacklog -= count
    guard let exchange, exchange.isPaused, exchange.hashBacklog <= Self.hashBacklogLimit / 2 else { return }
    self.exchange?.isPaused = false
    curl_easy_pause(curl, CInt(CURLPAUSE_CONT))
  }

  /// `CURLOPT_SEEKFUNCTION`: libcurl sends the body again, always from its start.
  private func rewind(to offset: Int64, origin: CInt) -> Bool {
    guard offset == 0, origin == SEEK_SET, exchange?.file != nil else { return false }
    guard var exchange else { return false }
    self.exchange = nil
    defer { self.exchange = exchange }
    do throws(TransportFailure) {
      try checkSending(exchange)
      restart(&exchange)
      return true
    } catch {
      exchange.failure = error
      return false
    }
  }

  func fail(_ code: TransportFailure.Code, _ message: String) {
    // Not in one statement: `failure` reads the exchange.
    let failure = failure(code, message)
    exchange?.failure = failure
  }

  /// Of a request that has reached its server.
  func failure(_ code: TransportFailure.Code, _ message: String) -> TransportFailure {
    let address = exchange.flatMap { CurlFailure.address(of: $0.hop.url) } ?? "the server"
    return TransportFailure(code, "\(address): \(message)", mayHaveReachedServer: true)
  }
}
