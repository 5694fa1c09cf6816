extension Session {
  static let shape = ObjectSchema<Session>(
    "Session", doc: "Rules that transfers share, after URLSessionConfiguration.",
    keys: [
      Key(
        "kind", \.kind, .choice(),
        doc: """
          `default`: its requests end with the launch. `ephemeral`: nothing is kept on disk. `background`: its \
          transfers outlive the process.
          """,
        example: "background"),
      Key(
        "identifier", \.identifier, .fileName, default: "`MANIFEST.SESSION`", doc: "The journal's name.",
        example: "com.example.photos.upload"),
      Key(
        "discretionary", \.discretionary, .choice(),
        doc: """
          Whether transfers wait for an allowed network, external power and budget. `inferred`: transfers that are \
          created in a background launch wait, until a foreground launch.
          """,
        example: "true"),
      Key(
        "allows_cellular", \.allowsCellular, .boolean,
        doc: "Whether it may use a cellular network. If not, it waits for another one.", example: "false"),
      Key(
        "allows_expensive", \.allowsExpensive, .boolean,
        doc: "Whether it may use a metered network. If not, it waits for another one.",
        example: "false"),
      Key(
        "max_connections_per_host", \.maxConnectionsPerHost, .integer(1...1_000),
        doc: "The maximum number of concurrent requests to one host (scheme, name and port).", example: "4"),
      Key(
        "timeout_for_request", \.timeoutForRequest, .duration(atLeast: .milliseconds(1)),
        doc: "The maximum idle time; every byte resets it.", example: "30s"),
      Key(
        "timeout_for_resource", \.timeoutForResource, .duration(atLeast: .milliseconds(1)),
        doc:
          "The maximum total time of an item, including retries and restarts. For a token, fetch, request or release: the time from its first attempt in a run, including retries.",
        example: "1d"),
      Key(
        "cache_policy", \.cachePolicy, .choice(), isBuilt: false,
        doc: "Whether a fetch may use the file that it saved before.",
        example: "reload_ignoring_local_cache"),
      Key(
        "service_type", \.serviceType, .choice(notYet: [.background]),
        doc: "How its packets are marked; `background`: lower effort (RFC 8622).", example: "background"),
      Key(
        "on_events", \.onEvents, .list(.constant("word of a command"), atLeastOne: true), default: "none",
        doc: "A command and its arguments, started when a batch of the session has completed.",
        example: "[./photos-done]"),
      Key(
        "headers", \.headers, .headers, default: "none",
        doc: "Header fields that every request of the session carries.",
        example: "{ User-Agent: ferry }"),
      Key(
        "redirects", \.redirects, .object(RedirectRules.shape), default: .itsKeys,
        doc: "How redirects of the session's requests are followed."),
    ],
    blank: { name, profile in Session(name: name, discretionary: Discretionary(profile)) },
    place: { _, _ in .session })
}
