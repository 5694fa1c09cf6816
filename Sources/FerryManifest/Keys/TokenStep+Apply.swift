extension TokenStep {
  /// `apply` as written in the manifest.
  struct Application: Sendable {
    var field: RequestTemplate.Field
    var origins: [OriginPattern]

    static let shape = ObjectSchema<Self>(
      "Apply",
      doc: """
        The header field to set on every request of a node that names the token. If the URL came from a \
        response, the field is set only if the manifest names the URL's origin: in the URL of a request with this \
        token, in the token's own request, or in `origins`.
        """,
      keys: [
        Key(
          "header", \.field.name, .headerName(isSet: true), isRequired: true, doc: "The field's name.",
          example: "Authorization"),
        Key(
          "value", \.field.value, .headerValue, isRequired: true,
          doc: "The field's value, which can refer to the token's captures.",
          example: "\"Bearer ${token.access_token}\""),
        Key(
          "origins", \.origins, .list(.originPattern, atLeastOne: true), default: "none",
          doc: """
            Additional origins to which the token may be sent, each with a scheme and optionally a port; `*.` stands for \
            any subdomain.
            """,
          example: "[\"https://*.example.com\"]"),
      ],
      blank: { _, _ in Self(field: RequestTemplate.Field(name: "", value: Template([])), origins: []) },
      place: { outer, _ in if case .token(let name) = outer { .apply(name) } else { outer } })
  }

  var application: Application {
    get { Application(field: apply, origins: applyOrigins) }
    set { (apply, applyOrigins) = (newValue.field, newValue.origins) }
  }
}

extension ValueKind where Value == OriginPattern {
  /// An origin, such as `https://api.example.com` or `https://*.example.com:8443`.
  fileprivate static var originPattern: Self {
    let text = ValueKind<String>.constant("origin")
    return Self(text.form, text: { text.text($0.description) }) { node, decoder in
      guard let written = text.decode(node, &decoder) else { return nil }
      if let pattern = OriginPattern(written) { return pattern }
      decoder.reportOfValue(
        Problem(
          .invalidURL, "this is not an origin",
          help:
            "write a scheme and a host, such as https://api.example.com or https://*.example.com:8443, without a path"
        ),
        at: node.location)
      return nil
    }
  }
}
