extension Session {
  static let shape = ObjectSchema<Session>(
    "Session", doc: "Shared settings of transfers, modeled on URLSessionConfiguration.",
    keys: [
      Key(
        "kind", \.kind, .choice(),
        doc: """
          `default`: requests are stopped when the launch ends. `ephemeral`: nothing is kept on disk. `background`: transfers \
          outlive the process.
          """,
        example: "background"),
      Key(
        "identifier", \.identifier, .fileName, default: "`MANIFEST.SESSION`", doc: "The journal's name.",
        example: "com.example.photos.upload"),
      Key(
        "discretionary", \.discretionary, .choice(),
        doc: """
          Whether transfers wait for external power and for budgets that bind discretionary sessions. `inferred`: in a \
          background session, files that were queued in a launch other than a foreground launch wait for these \
          conditions, until a foreground launch occurs.
          """,
        example: "true"),
      Key(
        "allows_cellular", \.allowsCellular, .boolean,
        doc: "Whether the session may use a cellular network. If not, it waits for a different network.",
        example: "false"),
      Key(
        "allows_expensive", \.allowsExpensive, .boolean,
        doc: "Whether the session may use a metered network. If not, it waits for a different network.",
        example: "false"),
      Key(
        "max_connections_per_host", \.maxConnectionsPerHost, .integer(1...1_000),
        doc: "The maximum number of concurrent requests to one host (scheme, name and port).", example: "4"),
      Key(
        "timeout_for_request", \.timeoutForRequest, .duration(atLeast: .milliseconds(1)),
        doc: "The idle timeout; every byte of content and every complete header line resets it.",
        example: "30s"),
      Key(
        "timeout_for_resource", \.timeoutForResource, .duration(atLeast: .milliseconds(1)),
        doc:
          "The limit on the total time of an item, including retries and restarts. For a token, fetch, request or release, the time begins with the first attempt in a run, and includes retries.",
        example: "1d"),
      Key(
        "cache_policy", \.cachePolicy, .choice(),
        doc: """
          Whether the session's fetches may use the file that they stored earlier. `use_protocol_cache_policy`: without a \
          request as long as the server's `Cache-Control` or `Expires` allows it; after that, if the server responds with \
          304. `reload_ignoring_local_cache`: never; the whole document is requested. `return_cache_data_else_load`: \
          always, without a request; the document is requested only if the file does not exist. \
          `return_cache_data_dont_load`: always, without a request; if the file does not exist, the fetch fails.
          """,
        example: "reload_ignoring_local_cache"),
      Key(
        "service_type", \.connection.serviceType, .choice(),
        doc: "The marking of the session's packets; `background` selects lower effort (RFC 8622).",
        example: "background"),
      Key(
        "on_events", \.onEvents, .list(.constant("command word"), atLeastOne: true), default: "none",
        doc: "The command, with its arguments, that ferry starts when a batch of the session has completed.",
        example: "[./photos-done]"),
      Key(
        "headers", \.headers, .headers, default: "none",
        doc:
          "Header fields that are added to every request in the session, unless the request sets them itself.",
        example: "{ User-Agent: ferry }"),
      .sign(\.sign),
      .auth(\.auth),
      Key(
        "redirects", \.redirects, .object(RedirectRules.shape), default: .itsKeys,
        doc: "The handling of redirects in the session's requests."),
      Key(
        "tls", \.connection.tls, .object(TLSSettings.shape), default: .itsKeys,
        doc: "The settings of TLS for the session's connections."),
      Key(
        "http_version", \.connection.httpVersion, .choice(),
        doc: """
          The version of HTTP. `auto`: HTTP/2 if the server negotiates it over TLS, otherwise HTTP/1.1. `2`: the same, and \
          all requests to a host share one connection if it has HTTP/2. `2-prior-knowledge`: HTTP/2 without negotiation, \
          even without TLS.
          """,
        example: "\"1.1\""),
      Key(
        "proxy", \.connection.proxy, .wordOr("none", meaning: .off, .object(ConnectionSettings.Proxy.shape)),
        default: "the environment's", doc: "The proxy of the session's requests. `none`: no proxy.",
        example: "{ url: http://proxy.example.com:3128 }"),
      Key(
        "resolve", \.connection.resolve, .list(.hostAddress, atLeastOne: true), default: "none",
        doc: """
          The addresses to which ferry connects for certain hosts and ports, each as `HOST:PORT:ADDRESS`. \
          The URL, the `Host` field and the name in the certificate remain those of the host.
          """,
        example: "[\"files.example.com:443:192.0.2.7\"]"),
      Key(
        "unix_socket", \.connection.unixSocket, .path, default: "none",
        doc: """
          The Unix domain socket to which all requests of the session are sent, instead of the hosts of their URLs. The \
          path is relative to the manifest's folder; `~/` is the home directory.
          """,
        example: "/run/upload.sock"),
      Key(
        "minimum_speed", \.connection.minimumSpeed, .minimumSpeed, default: "none",
        doc: """
          The minimum rate of a request: the bytes that it must transfer in each period. A request that \
          transfers less fails with `request_timeout` and is retried.
          """,
        example: "1kB/30s"),
      Key(
        "max_bandwidth", \.maxBandwidth, BandwidthLimit.kind, default: "no limit",
        doc: """
          The maximum combined rate of the session's requests, in bytes per second, for sending and for \
          receiving separately. It can depend on the time of day. `off`: no limit.
          """,
        example: "\"08:00 1MB, 18:00 off\""),
    ],
    rules: [.atMostOne(["unix_socket", "proxy"]), .atMostOne(["unix_socket", "resolve"])],
    blank: { name, profile in Session(name: name, discretionary: Discretionary(profile)) },
    place: { _, _ in .session })
}
