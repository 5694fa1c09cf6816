import CCurl
import FerryPlan

/// The options of connections. The handle keeps the `ConnectionOptions` alive while libcurl uses their bytes.
extension EasyHandle {
  /// Sets the options of a handle whose connection options have not been set since it was created. Options
  /// that are not set here keep their defaults.
  ///
  /// - Parameter isIdentified: whether the client certificate is presented to the hop's server.
  func set(
    _ options: ConnectionOptions, isIdentified: Bool, _ httpVersion: ConnectionOptions.HTTPVersion
  ) throws(TransportFailure) {
    if options.isBackground { setBackgroundSockets() }
    try set(options.tls, isIdentified: isIdentified, isBackground: options.isBackground)
    if options.hasTLSProxy { ferry_easy_set_long(curl, CURLOPT_FORBID_REUSE, 1) }
    try set(httpVersion)
    if let hosts = options.connectTo { ferry_easy_set_pointer(curl, CURLOPT_CONNECT_TO, hosts.slist) }
    if let path = options.unixSocket {
      try accept(ferry_easy_set_string(curl, CURLOPT_UNIX_SOCKET_PATH, path))
    }
    switch options.proxy {
    case .environment:
      // libcurl then does not look for a proxy.
      if !CurlLibrary.hasProxy { ferry_easy_set_string(curl, CURLOPT_NOPROXY, "*") }
    case .off: ferry_easy_set_string(curl, CURLOPT_PROXY, "")
    case .server(let proxy):
      try accept(ferry_easy_set_string(curl, CURLOPT_PROXY, proxy.url))
      // An empty list also overrides NO_PROXY in the environment.
      ferry_easy_set_string(curl, CURLOPT_NOPROXY, proxy.noProxy)
      guard let user = proxy.user else { break }
      try accept(ferry_easy_set_string(curl, CURLOPT_PROXYUSERNAME, user))
      try accept(ferry_easy_set_string(curl, CURLOPT_PROXYPASSWORD, proxy.password ?? ""))
    }
  }

  private func set(_ version: ConnectionOptions.HTTPVersion) throws(TransportFailure) {
    let number: Int
    switch version {
    case .auto: return
    case .http1: number = Int(CURL_HTTP_VERSION_1_1)
    case .http2:
      number = Int(CURL_HTTP_VERSION_2TLS)
      // A request waits for the connection that another one opens, and then shares it.
      ferry_easy_set_long(curl, CURLOPT_PIPEWAIT, 1)
    case .http2PriorKnowledge:
      // Without negotiation, libcurl 7.88 would add requests to a connection that is not yet established, and fail.
      number = Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
      if !CurlLibrary.canShareWithPriorKnowledge {
        ferry_easy_set_long(curl, CURLOPT_FRESH_CONNECT, 1)
        ferry_easy_set_long(curl, CURLOPT_FORBID_REUSE, 1)
      }
    }
    try accept(ferry_easy_set_long(curl, CURLOPT_HTTP_VERSION, number))
  }

  private func set(
    _ tls: TLSOptions, isIdentified: Bool, isBackground: Bool
  ) throws(TransportFailure) {
    let minimum =
      switch tls.minimum {
      case .tls12: CURL_SSLVERSION_TLSv1_2
      case .tls13: CURL_SSLVERSION_TLSv1_3
      }
    // libcurl shares a connection only between requests with equal TLS settings. Setting the highest version to its
    // default changes nothing but this comparison, so background requests do not share HTTP/2 connections with others.
    let maximum = isBackground ? Int(CURL_SSLVERSION_MAX_TLSv1_3) : 0
    ferry_easy_set_long(curl, CURLOPT_SSLVERSION, Int(minimum) | maximum)
    if let authorities = tls.authorities {
      // The defaults are a file and a folder; both would remain trusted.
      ferry_easy_set_string(curl, CURLOPT_CAINFO, nil)
      try accept(ferry_easy_set_string(curl, CURLOPT_CAPATH, authorities.folder))
      if let certificates = authorities.certificates { try set(CURLOPT_CAINFO_BLOB, certificates) }
    }
    if let pin = tls.pinnedPublicKey {
      try accept(ferry_easy_set_string(curl, CURLOPT_PINNEDPUBLICKEY, pin))
    }
    guard isIdentified, let identity = tls.identity else { return }
    try set(CURLOPT_SSLCERT_BLOB, identity.certificate)
    try accept(ferry_easy_set_string(curl, CURLOPT_SSLCERTTYPE, identity.isPKCS12 ? "P12" : "PEM"))
    if let key = identity.key { try set(CURLOPT_SSLKEY_BLOB, key) }
    try accept(ferry_easy_set_string(curl, CURLOPT_KEYPASSWD, identity.password))
  }

  private func set(_ option: CURLoption, _ content: FixedBytes) throws(TransportFailure) {
    try accept(ferry_easy_set_blob(curl, option, content.bytes.baseAddress, content.bytes.count))
  }

  /// Fails if libcurl was built without an option.
  private func accept(_ code: CURLcode) throws(TransportFailure) {
    guard code == CURLE_OK else {
      throw Self.malformed(
        "libcurl does not support a setting of the session: \(String(cString: curl_easy_strerror(code)))")
    }
  }
}
