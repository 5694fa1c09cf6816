import CCurl

/// How the connections for a request are made. The requests of a session share one object.
package final class ConnectionOptions: Sendable {
  package enum HTTPVersion: Sendable {
    case auto, http1, http2, http2PriorKnowledge
  }

  package struct MinimumSpeed: Sendable {
    /// Bytes in each period.
    package var bytes: Int64
    package var period: Duration

    package init(bytes: Int64, period: Duration) {
      self.bytes = bytes
      self.period = period
    }
  }

  package enum Proxy: Sendable {
    case environment
    case off
    case server(ProxyServer)
  }

  /// The default settings, for requests without a session.
  package static let plain = ConnectionOptions(tls: TLSOptions())

  let tls: TLSOptions
  let httpVersion: HTTPVersion
  /// The hosts to connect to in place of others; `nil` for none.
  let connectTo: StringList?
  let unixSocket: String?
  let minimumSpeed: MinimumSpeed?
  /// Whether packets are marked as lower effort (RFC 8622).
  let isBackground: Bool
  let proxy: Proxy
  /// The proxies for messages; `nil` if no request uses a proxy.
  let proxySettings: ProxySettings?
  /// Whether connections may lead through an HTTPS proxy. Bytes that such a proxy sends between two requests
  /// may already be decrypted in the TLS session with the proxy, where ferry cannot detect them. Therefore,
  /// the connections are not reused.
  let hasTLSProxy: Bool

  /// - Parameter connectTo: as for CURLOPT_CONNECT_TO. CURLOPT_RESOLVE would change the names of all sessions.
  package init(
    tls: TLSOptions, httpVersion: HTTPVersion = .auto, connectTo: [String] = [], unixSocket: String? = nil,
    minimumSpeed: MinimumSpeed? = nil, isBackground: Bool = false, proxy: Proxy = .environment
  ) {
    self.tls = tls
    self.httpVersion = httpVersion
    self.connectTo = connectTo.isEmpty ? nil : StringList(connectTo)
    self.unixSocket = unixSocket
    self.minimumSpeed = minimumSpeed
    self.isBackground = isBackground
    self.proxy = proxy
    // libcurl uses no proxy for a Unix domain socket.
    guard unixSocket == nil else {
      (proxySettings, hasTLSProxy) = (nil, false)
      return
    }
    switch proxy {
    case .environment: (proxySettings, hasTLSProxy) = (ProxySettings.current, CurlLibrary.hasTLSProxy)
    case .off: (proxySettings, hasTLSProxy) = (nil, false)
    case .server(let server):
      proxySettings = ProxySettings { name in
        switch name {
        case "all_proxy": server.url
        case "no_proxy": server.noProxy
        default: nil
        }
      }
      hasTLSProxy = server.url.lowercased().hasPrefix("https:")
    }
  }
}

extension ConnectionOptions {
  /// A proxy of the manifest. It is printed as `***`.
  package struct ProxyServer: Sendable {
    let url: String
    let user: String?
    let password: String?
    /// The hosts to connect to without the proxy, in the form of CURLOPT_NOPROXY.
    let noProxy: String

    package init(url: String, user: String?, password: String?, noProxy: String) {
      self.url = url
      self.user = user
      self.password = password
      self.noProxy = noProxy
    }
  }
}

extension ConnectionOptions.ProxyServer: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  package var description: String { "***" }
  package var debugDescription: String { "***" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// A `curl_slist`. It is never changed, so that all threads may read it.
final class StringList: @unchecked Sendable {
  private(set) var slist: UnsafeMutablePointer<curl_slist>?

  init(_ texts: [String]) {
    for text in texts { slist = curl_slist_append(slist, text) ?? slist }
  }

  deinit { curl_slist_free_all(slist) }
}
