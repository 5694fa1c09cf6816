extension SingleRequest {
  static let shape = Shape<SingleRequest>(
    "Single request", doc: "A single request in the graph: notify, finalize a set, warm a cache.",
    keys: [
      Key(
        "session", \.session, .name(of: .session), isRequired: true, doc: "The session that carries it.",
        example: "quick"),
      Key(
        "token", \.token, .name(of: .token), default: "none", doc: "The token that it carries.",
        example: "login"),
      Key(
        "needs", \.needs, .list(.name(of: .needs)), default: "none",
        doc: "The uploads, fetches and requests that come before it.", example: "[photos, catalog]"),
      Key("when", \.when, .choice(), doc: "Which outcome of `needs` lets it run.", example: "always"),
      Key("request", \.request, .object(RequestTemplate.shape), isRequired: true, doc: "What it sends."),
      Key(
        "expect", \.expect, .object(Expectation.shape), default: "any 2xx",
        doc: "Which answers count as success."),
      Key(
        "capture", \.capture, .named(Capture.shape), default: "none",
        doc: "What it takes from the answer, for `${requests.NAME.CAPTURE}` elsewhere.",
        example: "{ set_id: { json: /set } }"),
      Key(
        "retry", \.retry, .object(RetryPolicy.shape), default: "as its keys",
        doc: "When a failed request is tried again."),
    ],
    blank: { name in
      SingleRequest(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])))
    },
    place: { _, name in .request(name) })
}
