extension Session {
  static let shape = Shape<Session>(
    "Session", doc: "The rules that transfers share, after URLSessionConfiguration.",
    keys: [
      Key(
        "kind", \.kind, .choice(),
        doc: """
          `default`: its requests live in one launch. `ephemeral`: nothing of it is kept. `background`: its \
          transfers outlive the process.
          """,
        example: "background"),
      Key(
        "identifier", \.identifier, .fileName, default: "`MANIFEST.SESSION`", doc: "The journal's name.",
        example: "com.example.photos.upload"),
      Key(
        "max_connections_per_host", \.maxConnectionsPerHost, .integer(1...1_000),
        doc: "Concurrent requests to one host (scheme, name and port).", example: "4"),
      Key(
        "timeout_for_request", \.timeoutForRequest, .duration(atLeast: .milliseconds(1)),
        doc: "Idle time; any byte resets it.", example: "30s"),
      Key(
        "timeout_for_resource", \.timeoutForResource, .duration(atLeast: .milliseconds(1)),
        doc: "The whole item, retries and restarts included.", example: "1d"),
      Key(
        "headers", \.headers, .headers, default: "none",
        doc: "Header fields of every request of the session.",
        example: "{ User-Agent: ferry }"),
      .notYet("discretionary", doc: "Waits for an allowed network, external power and budget."),
      .notYet("allows_cellular", doc: "Whether it may use a cellular network."),
      .notYet("allows_expensive", doc: "Whether it may use a network that is paid by volume."),
      .notYet("cache_policy", doc: "Whether answers may come from a cache."),
      .notYet("service_type", doc: "How its packets are marked (RFC 8622)."),
      .notYet("on_events", doc: "A command that is started when a batch of the session is through."),
    ],
    blank: { Session(name: $0) },
    place: { _, _ in .session })
}
