extension SingleRequest {
  static let shape = ObjectSchema<SingleRequest>(
    "Single request",
    doc: "A single request, for example to send a notification, publish a set of files or warm a cache.",
    keys: [
      .session(\.session),
      .token(\.token),
      .needs(\.needs, example: "[photos, catalog]"),
      Key(
        "when", \.when, .choice(), doc: "The outcome of the nodes in `needs` that allows the request to run.",
        example: "always"),
      .request(\.request),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
      .capture(
        \.capture, for: "references such as `${requests.NAME.CAPTURE}`", example: "{ set_id: { json: /set } }"
      ),
      .decompress(\.request.decompress),
      .retry(\.retry),
      Key(
        "optional", \.isOptional, .boolean,
        doc: """
          Whether a failure of the request is only a warning: the exit code does not change, and the nodes that need the request \
          continue as if the request had succeeded.
          """,
        example: "true"),
      .repeatable(\.isRepeatable),
      .idempotencyKey(
        \.idempotencyHeader,
        doc: """
          A header field by which the server recognizes a repeated request. It makes the request repeatable. \
          Its value is the same for all attempts in a round.
          """),
    ],
    rules: [.atMostOne(["repeatable", "idempotency_key"])],
    blank: { name, _ in
      SingleRequest(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])))
    },
    place: { _, name in .request(name) })
}
