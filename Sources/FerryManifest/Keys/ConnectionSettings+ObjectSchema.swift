extension ConnectionSettings.Proxy {
  static let shape = ObjectSchema<Self>(
    "Proxy",
    doc: """
      The HTTP proxy of a session. Requests to https URLs pass through a tunnel (CONNECT); the proxy \
      sees only the host and the port of the server.
      """,
    keys: [
      Key(
        "url", \.server.url, .url, isRequired: true,
        doc: "The proxy's URL with its port, with the scheme http or https.",
        example: "http://proxy.example.com:3128"),
      Key(
        "user", \.server.user, .template(), default: "none", doc: "The user name for the proxy (Basic).",
        example: "ferry"),
      Key(
        "password", \.server.password, .template(), default: "empty", doc: "The password for the proxy.",
        example: "\"${secrets.proxy_password}\""),
      Key(
        "no_proxy", \.server.noProxy, .list(.constant("host"), atLeastOne: true), default: "none",
        doc: """
          Hosts that are requested without the proxy: names (each includes its subdomains), addresses, and \
          networks such as `192.0.2.0/24`.
          """,
        example: "[localhost, example.com]"),
    ],
    rules: [.requires("password", "user")],
    blank: { _, _ in .server(ConnectionSettings.ProxyServer()) })

  private var server: ConnectionSettings.ProxyServer {
    get { if case .server(let server) = self { server } else { ConnectionSettings.ProxyServer() } }
    set { self = .server(newValue) }
  }
}

extension ValueKind where Value == HostAddress {
  /// `HOST:PORT:ADDRESS`, as for curl's `--resolve`.
  static var hostAddress: Self {
    let text = ValueKind<String>.constant("host, port and address")
    return Self(text.form, text: { text.text($0.description) }) { node, decoder in
      guard let written = text.decode(node, &decoder) else { return nil }
      if let address = HostAddress(written) { return address }
      decoder.reportOfValue(
        Problem(
          .invalidName, "this is not a host, a port and an address",
          help:
            "write HOST:PORT:ADDRESS, such as files.example.com:443:192.0.2.7, with an IPv6 address in brackets"
        ),
        at: node.location)
      return nil
    }
  }
}

extension ValueKind where Value == ConnectionSettings.MinimumSpeed {
  /// A size and a duration, such as `1kB/30s`.
  static var minimumSpeed: Self {
    let text = ValueKind<String>.constant("size and duration")
    return Self(
      text.form,
      text: {
        "\(Quantity.text($0.bytes, units: Quantity.sizes))/\(Quantity.text($0.period.milliseconds, units: Quantity.durations))"
      }
    ) { node, decoder in
      guard let written = text.decode(node, &decoder) else { return nil }
      let parts = written.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      if parts.count == 2, let bytes = try? Quantity(parts[0], units: Quantity.sizes).amount, bytes > 0,
        let period = try? Quantity.duration(parts[1]), period >= .seconds(1)
      {
        return ConnectionSettings.MinimumSpeed(bytes: bytes, period: period)
      }
      decoder.reportOfValue(
        Problem(
          .malformedQuantity, "this is not a size and a duration of at least 1s",
          help: "write the bytes that must be transferred in a period, such as 1kB/30s"),
        at: node.location)
      return nil
    }
  }
}
