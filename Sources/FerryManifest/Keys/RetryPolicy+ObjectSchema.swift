extension RetryPolicy {
  static let shape = ObjectSchema<RetryPolicy>(
    "Retry",
    doc: """
      The number of retries of a failed request, and the waits between them. The wait before retry n is `initial` × `factor`ⁿ⁻¹, \
      at most `max`, then varied at random by up to ±`jitter` of this value.
      """,
    keys: [
      Key(
        "limit", \.limit, .integer(0...1_000),
        doc: """
          The maximum number of retries of a request after its first attempt, per launch. For a host that cannot be \
          reached, the maximum number of attempts to reach it after the first, for all requests together.
          """,
        example: "5"),
      Key("initial", \.initial, .duration(), doc: "The wait before the first retry.", example: "1s"),
      Key(
        "factor", \.factor, .number(1...100), doc: "The factor by which each wait is multiplied.",
        example: "2"),
      Key("max", \.max, .duration(), doc: "The longest wait.", example: "5m"),
      Key(
        "jitter", \.jitter, .number(0...1), doc: "The fraction of a wait that varies at random, from 0 to 1.",
        example: "0.25"
      ),
    ],
    blank: { _, _ in RetryPolicy() },
    finish: { retry, node, decoder in
      decoder.checkBounds(retry.initial, "initial", retry.max, "max", in: node)
    })
}
