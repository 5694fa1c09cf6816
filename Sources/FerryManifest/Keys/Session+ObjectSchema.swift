extension Session {
  static let shape = ObjectSchema<Session>(
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
        "discretionary", \.discretionary, .choice(),
        doc: """
          Waits for an allowed network, external power and budget. `inferred`: transfers that are created in a \
          background launch do, until a foreground launch.
          """,
        example: "true"),
      Key(
        "allows_cellular", \.allowsCellular, .boolean,
        doc: "Whether it may use a cellular network; where it may not, it waits.", example: "false"),
      Key(
        "allows_expensive", \.allowsExpensive, .boolean,
        doc: "Whether it may use a network that is paid by volume; where it may not, it waits.",
        example: "false"),
      Key(
        "max_connections_per_host", \.maxConnectionsPerHost, .integer(1...1_000),
        doc: "Concurrent requests to one host (scheme, name and port).", example: "4"),
      Key(
        "timeout_for_request", \.timeoutForRequest, .duration(atLeast: .milliseconds(1)),
        doc: "Idle time; any byte resets it.", example: "30s"),
      Key(
        "timeout_for_resource", \.timeoutForResource, .duration(atLeast: .milliseconds(1)),
        doc:
          "The whole item, retries and restarts included. For a token, fetch, request or release: the time from its first attempt in a run, retries included.",
        example: "1d"),
      Key(
        "cache_policy", \.cachePolicy, .choice(), isBuilt: false,
        doc: "Whether a fetch may be answered from the file that it saved before.",
        example: "reload_ignoring_local_cache"),
      Key(
        "service_type", \.serviceType, .choice(notYet: [.background]),
        doc: "How its packets are marked; `background` as lower effort (RFC 8622).", example: "background"),
      Key(
        "on_events", \.onEvents, .list(.constant("word of a command"), atLeastOne: true), default: "none",
        doc: "A command and its arguments, started when a batch of the session is through.",
        example: "[./photos-done]"),
      Key(
        "headers", \.headers, .headers, default: "none",
        doc: "Header fields of every request of the session.",
        example: "{ User-Agent: ferry }"),
      Key(
        "redirects", \.redirects, .object(RedirectRules.shape), default: .itsKeys,
        doc: "How redirects of the session's requests are followed."),
    ],
    blank: { name, profile in Session(name: name, discretionary: Discretionary(profile)) },
    place: { _, _ in .session })
}
