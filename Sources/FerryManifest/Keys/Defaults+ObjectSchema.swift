/// The `defaults` section. Its values are checked here. They have already been used before anything is read
/// (`Defaults`), so nothing of it is stored.
struct DefaultsSection: Sendable {
  static let shape = ObjectSchema<Self>(
    "Defaults",
    doc: """
      Default values for sections that do not set their own. Mappings are merged key by key, at every level: a \
      request that sets one header field also gets the default ones. A list or a `json` body replaces the default. \
      Nothing is required here.
      """,
    keys: [
      key(
        "sessions", Session.shape, doc: "Defaults of every session.", example: "{ timeout_for_request: 30s }"),
      key("tokens", TokenStep.shape, doc: "Defaults of every token.", example: "{ session: quick }"),
      key(
        "uploads", Upload.shape, doc: "Defaults of every upload.",
        example: "{ session: uploads, token: login }"),
      key("fetches", Fetch.shape, doc: "Defaults of every fetch.", example: "{ session: quick }"),
      key(
        "requests", SingleRequest.shape, doc: "Defaults of every single request.",
        example: "{ session: quick }"),
      key(
        "request", RequestTemplate.commonShape,
        doc: "Defaults of every `request` of a token, upload, fetch or single request.",
        example: "{ headers: { Accept: application/json } }"),
      key("retry", RetryPolicy.shape, doc: "Defaults of every `retry`.", example: "{ limit: 10 }"),
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
  /// Some keys of an object. Each is checked by itself, and none is reported as missing.
  fileprivate static func partial<Object: Sendable>(_ shape: ObjectSchema<Object>) -> Self {
    Self(.object(shape.form)) { node, decoder in
      decoder.partially { shape.decode(node, &$0) } == nil ? nil : true
    }
  }
}
