extension RetryPolicy {
  static let shape = ObjectSchema<RetryPolicy>(
    "Retry",
    doc: """
      The number of retries of a failed request, and the delays between them. The delay before retry n is \
      `initial` × `factor`ⁿ⁻¹, at most `max`, and then varies at random by up to ±`jitter` of this value.
      """,
    keys: [
      Key(
        "limit", \.limit, .integer(0...1_000),
        doc: """
          The maximum number of retries of a request after its first attempt, per launch. If a host cannot \
          be reached, it is the maximum number of further attempts to reach the host, for all requests \
          together.
          """,
        example: "5"),
      Key("initial", \.initial, .duration(), doc: "The delay before the first retry.", example: "1s"),
      Key(
        "factor", \.factor, .number(1...100),
        doc: "The factor by which each delay is multiplied to get the next one.",
        example: "2"),
      Key("max", \.max, .duration(), doc: "The maximum delay, before the jitter.", example: "5m"),
      Key(
        "jitter", \.jitter, .number(0...1),
        doc: "The fraction of a delay by which it varies at random, from 0 to 1.",
        example: "0.25"
      ),
      Key(
        "not_executed", \.notExecuted, .list(.integer(400...599), atLeastOne: true), default: "none",
        doc: """
          Statuses that the server sends only if it has not executed a request, in addition to 408, 425, 429, 501, 505 and \
          511. After such a response, ferry retries even a request that must not be repeated. List 503 only if no gateway \
          between ferry and the server sends it: many gateways send 503 if the server was disconnected while it executed the \
          request.
          """,
        example: "[503]"),
    ],
    blank: { _, _ in RetryPolicy() },
    finish: { retry, node, decoder in
      decoder.checkBounds(retry.initial, "initial", retry.max, "max", in: node)
    })
}
