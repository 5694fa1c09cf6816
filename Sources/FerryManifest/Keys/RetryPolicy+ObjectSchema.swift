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
    ],
    blank: { _, _ in RetryPolicy() },
    finish: { retry, node, decoder in
      decoder.checkBounds(retry.initial, "initial", retry.max, "max", in: node)
    })
}
