extension SingleRequest {
  static let shape = ObjectSchema<SingleRequest>(
    "Single request", doc: "A single request in the graph: notify, finalize a set, warm a cache.",
    keys: [
      .session(\.session),
      .token(\.token),
      .needs(\.needs, example: "[photos, catalog]"),
      Key("when", \.when, .choice(), doc: "Which outcome of `needs` lets it run.", example: "always"),
      .request(\.request),
      .expect(\.expect),
      .capture(
        \.capture, for: "`${requests.NAME.CAPTURE}` elsewhere", example: "{ set_id: { json: /set } }"),
      .retry(\.retry),
    ],
    blank: { name, _ in
      SingleRequest(
        name: name, session: Located("", at: name.location), request: RequestTemplate(url: Template([])))
    },
    place: { _, name in .request(name) })
}
