/// The `defaults` section. Only its values are checked here: `Defaults` has already inserted them into the
/// document, so nothing in it is stored.
struct DefaultsSection: Sendable {
  static let shape = ObjectSchema<Self>(
    "Defaults",
    doc: """
      Default values for sections that do not set their own. Mappings are merged key by key, at every level: \
      a request that sets one header field still gets the default header fields. A list or a `json` body \
      replaces the default. \
      No key is required in this section.
      """,
    keys: [
      key(
        "sessions", Session.shape, doc: "Defaults for all sessions.", example: "{ timeout_for_request: 30s }"),
      key("tokens", TokenStep.shape, doc: "Defaults for all tokens.", example: "{ session: quick }"),
      key(
        "uploads", Upload.shape, doc: "Defaults for all uploads.",
        example: "{ session: uploads, token: login }"),
      key(
        "downloads", Download.shape, doc: "Defaults for all download batches.",
        example: "{ session: downloads }"),
      key("fetches", Fetch.shape, doc: "Defaults for all fetches.", example: "{ session: quick }"),
      key(
        "requests", SingleRequest.shape, doc: "Defaults for all single requests.",
        example: "{ session: quick }"),
      key(
        "request", RequestTemplate.commonShape,
        doc: "Defaults for every `request` in a token, upload, download, fetch, single request or `on_end`.",
        example: "{ headers: { Accept: application/json } }"),
      key("retry", RetryPolicy.shape, doc: "Defaults for every `retry`.", example: "{ limit: 10 }"),
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
  /// Some keys of an object. Each key is checked separately, and no key is reported as missing.
  fileprivate static func partial<Object: Sendable>(_ shape: ObjectSchema<Object>) -> Self {
    Self(.object(shape.form)) { node, decoder in
      decoder.partially { shape.decode(node, &$0) } == nil ? nil : true
    }
  }
}
