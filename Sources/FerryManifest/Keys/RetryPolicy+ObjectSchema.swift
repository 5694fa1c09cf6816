extension RetryPolicy {
  static let shape = ObjectSchema<RetryPolicy>(
    "Retry",
    doc: """
      When a failed request is tried again. The wait before retry n is `initial` × `factor`ⁿ⁻¹, at most `max`, \
      then moved by up to ±`jitter` of itself.
      """,
    keys: [
      Key(
        "limit", \.limit, .integer(0...1_000), doc: "Retries after the first attempt, in one launch.",
        example: "5"),
      Key("initial", \.initial, .duration(), doc: "The wait before the first retry.", example: "1s"),
      Key("factor", \.factor, .number(1...100), doc: "What each wait is multiplied with.", example: "2"),
      Key("max", \.max, .duration(), doc: "The longest wait.", example: "5m"),
      Key(
        "jitter", \.jitter, .number(0...1), doc: "The part of a wait that is left to chance.", example: "0.25"
      ),
    ],
    blank: { _, _ in RetryPolicy() },
    finish: { retry, node, decoder in
      decoder.checkBounds(retry.initial, "initial", retry.max, "max", in: node)
    })
}
