/// `defaults` as the manifest writes it. Its values are checked here and put to use before anything is read
/// (`Defaults`), so that nothing of it is kept.
struct DefaultsSection: Sendable {
  static let shape = ObjectSchema<Self>(
    "Defaults",
    doc: """
      Common values, for whatever does not give its own. Mappings are filled key by key, also inside: a request \
      with a header of its own gets the common ones beside it. A list or a `json` body of its own is taken whole. \
      Nothing is required here.
      """,
    keys: [
      key("sessions", Session.shape, doc: "Of every session.", example: "{ timeout_for_request: 30s }"),
      key("tokens", TokenStep.shape, doc: "Of every token.", example: "{ session: quick }"),
      key("uploads", Upload.shape, doc: "Of every upload.", example: "{ session: uploads, token: login }"),
      key("fetches", Fetch.shape, doc: "Of every fetch.", example: "{ session: quick }"),
      key("requests", SingleRequest.shape, doc: "Of every single request.", example: "{ session: quick }"),
      key(
        "request", RequestTemplate.commonShape,
        doc: "Of every `request` of a token, upload, fetch or single request.",
        example: "{ headers: { Accept: application/json } }"),
      key("retry", RetryPolicy.shape, doc: "Of every `retry`.", example: "{ limit: 10 }"),
    ],
    blank: { _, _ in Self() })

  private var isSound: Bool?

  private static func key<Object: Sendable>(
    _ name: String, _ shape: ObjectSchema<Object>, doc: String, example: String
  ) -> Key<Self> {
    Key(name, \.isSound, .partial(shape), default: "none", doc: doc, example: example)
  }
}

extension ValueKind where Value == Bool {
  /// Some keys of an object: each is checked by itself, and none is missing.
  fileprivate static func partial<Object: Sendable>(_ shape: ObjectSchema<Object>) -> Self {
    Self(.object(shape.form)) { node, decoder in
      decoder.partially { shape.decode(node, &$0) } == nil ? nil : true
    }
  }
}
