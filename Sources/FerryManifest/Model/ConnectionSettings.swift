/// How the connections of a session are made.
package struct ConnectionSettings: Hashable, Codable, Sendable {
  /// The version of HTTP.
  package enum HTTPVersion: String, Codable, Sendable, CaseIterable {
    /// HTTP/2 if the server negotiates it over TLS, otherwise HTTP/1.1.
    case auto
    case http1 = "1.1"
    /// HTTP/2 over TLS, with all requests to a host on one connection.
    case http2 = "2"
    /// HTTP/2 without negotiation, even without TLS.
    case http2PriorKnowledge = "2-prior-knowledge"
  }

  package enum ServiceType: String, Codable, Sendable, CaseIterable {
    /// Packets are not marked.
    case `default`
    /// Packets are marked as lower effort (RFC 8622).
    case background
  }

  /// The lowest rate at which a request may transfer data.
  package struct MinimumSpeed: Hashable, Codable, Sendable {
    /// Bytes in each period.
    package var bytes: Int64
    package var period: Duration

    package init(bytes: Int64, period: Duration) {
      self.bytes = bytes
      self.period = period
    }
  }

  /// The proxy of a session.
  package enum Proxy: Hashable, Codable, Sendable {
    /// `proxy: none`: the environment's proxy is not used.
    case off
    case server(ProxyServer)
  }

  package struct ProxyServer: Hashable, Codable, Sendable {
    package var url = Template([])
    package var user: Template?
    package var password: Template?
    /// Hosts that are requested without the proxy.
    package var noProxy: [String] = []

    package init() {}
  }

  package var tls = TLSSettings()
  package var httpVersion = HTTPVersion.auto
  /// The hosts to connect to in place of others, as `HOST:PORT:ADDRESS`.
  package var resolve: [HostAddress] = []
  /// The path of a Unix domain socket to connect to instead of the URL's host.
  package var unixSocket: String?
  package var minimumSpeed: MinimumSpeed?
  package var serviceType = ServiceType.default
  /// `nil` for the environment's proxy.
  package var proxy: Proxy?

  package init() {}

  /// The texts with references.
  package var templates: [Template] {
    let server: ProxyServer? = if case .server(let server) = proxy { server } else { nil }
    return [tls.keyPassword, server?.url, server?.user, server?.password].compactMap(\.self)
  }
}

/// The address that is used for a host and port.
package struct HostAddress: Hashable, Codable, Sendable {
  package var host: String
  package var port: Int
  /// A numeric address, or another host name; an IPv6 address is in brackets.
  package var address: String

  /// Returns `nil` if the text is not `HOST:PORT:ADDRESS`.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let port = Int(parts[1]), (1...65_535).contains(port) else { return nil }
    (host, self.port, address) = (parts[0], port, parts[2])
    let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
    let name = isBracketed ? String(address.dropFirst().dropLast()) : address
    func isName(_ text: String, _ more: String) -> Bool {
      !text.isEmpty
        && text.utf8.allSatisfy { byte in
          switch byte {
          case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
          default: more.utf8.contains(byte)
          }
        }
    }
    guard isName(host, "-._"), isName(name, isBracketed ? ":." : "-._") else { return nil }
  }
}

extension HostAddress: CustomStringConvertible {
  package var description: String { "\(host):\(port):\(address)" }
}

/// The TLS settings of a session.
package struct TLSSettings: Hashable, Codable, Sendable {
  /// The lowest version of TLS. RFC 8996 forbids versions before 1.2.
  package enum Version: String, Codable, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
  }

  /// A file with the trusted authorities in PEM; `nil` for those of the system.
  package var caFile: String?
  /// A folder of trusted authorities, in the form of openssl-rehash(1).
  package var caPath: String?
  /// The digests of the accepted public keys, as for CURLOPT_PINNEDPUBLICKEY.
  package var pinnedPublicKey: String?
  package var minimum = Version.tls12
  /// The client certificate, in PEM or PKCS#12.
  package var certificate: String?
  /// The private key of a certificate in PEM; `nil` if it is in the certificate's file.
  package var key: String?
  package var keyPassword: Template?

  package init() {}

  /// The files that are read, by their keys.
  package var files: [(key: String, path: String)] {
    [("ca_file", caFile), ("certificate", certificate), ("key", key)].compactMap { key, path in
      path.map { (key, $0) }
    }
  }
}
