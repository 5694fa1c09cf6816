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
        doc: "The idle timeout; every byte resets it.", example: "30s"),
      Key(
        "timeout_for_resource", \.timeoutForResource, .duration(atLeast: .milliseconds(1)),
        doc:
          "The total time limit of an item, including retries and restarts. For a token, fetch, request or release, it covers the time from the first attempt in a run, including retries.",
        example: "1d"),
      Key(
        "cache_policy", \.cachePolicy, .choice(), isBuilt: false,
        doc: "Whether a fetch may use the file that it saved earlier.",
        example: "reload_ignoring_local_cache"),
      Key(
        "service_type", \.serviceType, .choice(notYet: [.background]),
        doc: "The marking of the session's packets; `background` selects lower effort (RFC 8622).",
        example: "background"),
      Key(
        "on_events", \.onEvents, .list(.constant("command word"), atLeastOne: true), default: "none",
        doc: "A command and its arguments, which ferry starts when a batch of the session has completed.",
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
        doc: "The TLS settings of the session's connections."),
    ],
    blank: { name, profile in Session(name: name, discretionary: Discretionary(profile)) },
    place: { _, _ in .session })
}
