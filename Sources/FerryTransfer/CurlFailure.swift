import CCrypto
import CCurl
import FerryPlan

/// Translates libcurl's result codes into ferry's failure codes.
enum CurlFailure {
  /// Returns the failure code for a result of libcurl.
  ///
  /// - Parameter hasReachedServer: whether this exchange's request was about to be sent or had been sent.
  static func code(_ code: CURLcode, hasReachedServer: Bool) -> TransportFailure.Code {
    switch code {
    // The host name, or the proxy's host name, was not found.
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      .nameResolution
    // The connection was refused, the host is unreachable, or a proxy rejected it. QUIC has no more specific
    // code.
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_QUIC_CONNECT_ERROR, CURLE_INTERFACE_FAILED:
      .connect
    // libcurl enforces only the connection timeout; the loop enforces the other time limits itself.
    case CURLE_OPERATION_TIMEDOUT:
      hasReachedServer ? .requestTimeout : .connect
    // The handshake was interrupted, or the two sides do not share a version or cipher. Once the request has
    // been sent, only the end of the connection can cause these codes.
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_SHUTDOWN_FAILED:
      hasReachedServer ? .connectionLost : .handshake
    // A problem with the server's certificate, or with the certificate authorities or client certificate on
    // this machine.
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT:
      hasReachedServer ? .connectionLost : .certificate
    // The connection was lost while sending, while receiving, before the first byte, or before the last byte. HTTP/2
    // and HTTP/3 have separate codes for these cases.
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_SEND_FAIL_REWIND:
      hasReachedServer ? .connectionLost : .connect
    // The response is not HTTP, or it is HTTP/0.9, which libcurl reports as an unsupported protocol.
    case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
      .malformedResponse
    case CURLE_UNSUPPORTED_PROTOCOL:
      hasReachedServer ? .malformedResponse : .request
    // libcurl reports a header line beyond its limit of 100 KiB as out of memory (CURLE_TOO_LARGE was added
    // in 8.6).
    case CURLE_OUT_OF_MEMORY, CURLE_FILESIZE_EXCEEDED:
      hasReachedServer ? .responseTooLarge : .request
    // libcurl does not accept a URL or an option. For a response, the code means that a folded header line is not
    // preceded by a header line.
    case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION, CURLE_NOT_BUILT_IN,
      CURLE_SETOPT_OPTION_SYNTAX:
      hasReachedServer ? .malformedResponse : .request
    // If one of our callbacks aborted a transfer, the callback has recorded the failure. Any other code can
    // only refer to the connection.
    default:
      hasReachedServer ? .connectionLost : .connect
    }
  }

  /// The failure of an exchange. Its message does not contain the URL's query or userinfo, or any header field.
  ///
  /// - Parameter shutDown: the remote addresses of the connections that `StuckTurnGuard` shut down.
  static func failure(_ code: CURLcode, of handle: EasyHandle, shutDown: [SocketAddress]) -> TransportFailure
  {
    let reached = handle.exchange?.hasReachedServer ?? false
    let proxy = handle.exchange.flatMap {
      $0.request.connection.proxySettings?.address(for: $0.hop.url)
    }
    let isSent = (handle.exchange?.attempts ?? 0) > 0
    var ours = Self.code(code, hasReachedServer: isSent)
    // Before the request is sent, only a proxy sends header lines, in its response to CONNECT.
    if code == CURLE_BAD_FUNCTION_ARGUMENT, !isSent, proxy != nil { ours = .connect }
    let address = handle.exchange.flatMap { Self.address(of: $0.hop.url) } ?? "the server"
    let isUnix = handle.exchange?.request.connection.unixSocket != nil
    if let peer = isUnix ? .unixSocket : handle.peer, shutDown.contains(peer) {
      let why = "ferry closed the connection because libcurl kept reading data without returning"
      return TransportFailure(
        reached ? .connectionLost : .connect, "\(address): \(why)", mayHaveReachedServer: reached)
    }
    if !isSent, let proxy, let message = message(code, ours, of: handle, to: address, through: proxy) {
      return TransportFailure(ours, message, mayHaveReachedServer: reached)
    }
    if let refusal = refusedIdentity(code, of: handle) {
      return TransportFailure(.certificate, "TLS with \(address): \(refusal)", mayHaveReachedServer: false)
    }
    let message =
      switch ours {
      // libcurl resolves each name on a separate thread. Its message reports a failure to create that thread.
      case .nameResolution: "resolve \(address): \(text(code, of: handle))"
      case .connect: "connect to \(address): \(connectReason(code, of: handle))"
      // libcurl's message quotes OpenSSL here, but no part of the request.
      case .handshake: "TLS with \(address): \(text(code, of: handle))"
      case .certificate: "TLS with \(address): \(text(code, of: handle))\(authorityHelp(handle))"
      // libcurl's message does not quote the response here.
      case .malformedResponse: "\(address): the response is malformed: \(malformation(code, of: handle))"
      // libcurl itself reports a header line that is too long as "Out of memory".
      case .responseTooLarge: "\(address): a header line of the response is longer than 100 KiB"
      case .connectionLost, .requestTimeout, .resourceTimeout, .byteLimit, .redirect,
        .sourceMissing, .sourceUnreadable, .sourceChanged, .destination,
        .request, .capture, .otherServer, .cancelled:
        "\(address): \(String(cString: curl_easy_strerror(code)))"
      }
    return TransportFailure(ours, message, mayHaveReachedServer: reached)
  }

  /// The message for a failure before the hop's request was sent; `nil` if the failure does not involve the proxy.
  ///
  /// - Parameter proxy: `host:port`.
  private static func message(
    _ code: CURLcode, _ ours: TransportFailure.Code, of handle: EasyHandle, to address: String,
    through proxy: String
  ) -> String? {
    if code == CURLE_BAD_FUNCTION_ARGUMENT {
      return "connect to \(address) through the proxy \(proxy): the proxy's response is malformed"
    }
    let status = handle.connectStatus
    // The tunnel exists, so the target failed.
    if 200...299 ~= status { return nil }
    if status != 0 { return "the proxy \(proxy) refused a connection to \(address) with \(status)" }
    switch ours {
    case .nameResolution:
      guard code == CURLE_COULDNT_RESOLVE_PROXY else { return nil }
      return "resolve the proxy \(proxy), for \(address): \(text(code, of: handle))"
    case .connect where code == CURLE_COULDNT_CONNECT:
      return "connect to the proxy \(proxy), for \(address): \(connectReason(code, of: handle))"
    case .connect where code == CURLE_OPERATION_TIMEDOUT:
      return "connect to \(address) through the proxy \(proxy): timed out"
    case .connect: return "connect to \(address) through the proxy \(proxy): \(text(code, of: handle))"
    case .handshake, .certificate:
      guard handle.exchange?.request.connection.hasTLSProxy == true else { return nil }
      return "TLS with the proxy \(proxy), for \(address): \(text(code, of: handle))"
    case .connectionLost, .requestTimeout, .resourceTimeout, .byteLimit, .malformedResponse,
      .responseTooLarge, .redirect, .sourceMissing, .sourceUnreadable, .sourceChanged, .destination, .request,
      .capture, .otherServer, .cancelled:
      return nil
    }
  }

  // MARK: Certificates

  /// The alerts with which a server rejects the client's certificate (RFC 8446, section 6.2), as OpenSSL names them.
  private static let identityAlerts = [
    "alert certificate required", "alert bad certificate", "alert unsupported certificate",
    "alert certificate revoked", "alert certificate expired", "alert certificate unknown", "alert unknown ca",
    "alert access denied",
  ]

  /// The reason why the server rejected the client's certificate, or its absence; `nil` if the server rejected neither.
  ///
  /// With TLS 1.3, the client may send its request before it receives the alert, which libcurl reports as a failure to
  /// receive. The server has not read that request, because the handshake has not completed.
  private static func refusedIdentity(_ code: CURLcode, of handle: EasyHandle) -> String? {
    guard [CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR].contains(code),
      let exchange = handle.exchange, exchange.attempts <= 1, exchange.redirects == 0,
      exchange.headersReceived == 0
    else { return nil }
    let text = handle.curlText
    guard let alert = identityAlerts.first(where: { text.contains($0) }) else { return nil }
    if exchange.isIdentified { return "the server rejected the client certificate (\(alert))" }
    if exchange.request.connection.tls.identity != nil {
      return
        "the server requires a client certificate, which is presented only to origins of the session's URLs in the "
        + "manifest (\(alert))"
    }
    return
      "the server requires a client certificate: write 'tls: { certificate: … }' in the session (\(alert))"
  }

  /// The setting that may be missing if a server's certificate has an unknown issuer.
  private static func authorityHelp(_ handle: EasyHandle) -> String {
    switch handle.verifyResult {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
      "; if this is the right server, name the certificate of its authority in 'tls: { ca_file: … }' of the session"
    default: ""
    }
  }

  /// `host:port`.
  static func address(of url: String) -> String? { CurlURL(url)?.origin?.address }

  private static func connectReason(_ code: CURLcode, of handle: EasyHandle) -> String {
    if code == CURLE_OPERATION_TIMEDOUT { return "timed out" }
    if let path = handle.exchange?.request.connection.unixSocket, let refusal = UnixSocket.refusal(path.utf8)
    {
      return "'unix_socket': \(refusal)"
    }
    let number = handle.systemError
    return number == 0 ? String(cString: curl_easy_strerror(code)) : SystemText.error(number)
  }

  private static func malformation(_ code: CURLcode, of handle: EasyHandle) -> String {
    guard code == CURLE_BAD_FUNCTION_ARGUMENT else { return text(code, of: handle) }
    return handle.head.isWhole
      ? "its body has a malformed chunk or trailer" : "its first header line is a folded continuation line"
  }

  private static func text(_ code: CURLcode, of handle: EasyHandle) -> String {
    let text = handle.curlText
    // libcurl quotes the URL of a proxy, which may contain a password.
    if text.hasPrefix("Unsupported proxy") { return "the URL of the proxy is malformed or not supported" }
    return text.isEmpty || text.contains("://") ? String(cString: curl_easy_strerror(code)) : text
  }
}
