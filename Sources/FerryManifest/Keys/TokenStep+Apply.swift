extension TokenStep {
  /// `apply` as written in the manifest.
  struct Application: Sendable {
    var header: String?
    var query: String?
    var cookie: String?
    var value: Template?
    var origins: [OriginPattern] = []

    static let shape = ObjectSchema<Self>(
      "Apply",
      doc: """
        How the requests of a node carry the node's token. If the URL came from a response, the token is \
        sent only if the manifest names the URL's origin: in the URL of a request with this token, in the token's own \
        request, or in `origins`.
        """,
      keys: [
        Key(
          "header", \.header, .headerName(isSet: true), default: .words("`Authorization`"),
          doc: "The header field that carries the token.", example: "Authorization"),
        Key(
          "query", \.query, .constant("parameter"), default: "none",
          doc: """
            The parameter that carries the token; it is added to the query of the URL. Servers and proxies often log URLs, so \
            prefer a header field.
            """,
          example: "access_token"),
        Key(
          "cookie", \.cookie, .cookieName, default: "none",
          doc: "The cookie that carries the token, in the header field `Cookie`.", example: "session"),
        Key(
          "value", \.value, .headerValue,
          default: "the token; in `Authorization`, `Bearer` and the token",
          doc: """
            The value, which can refer to the token's captures. By default, the token is the capture `access_token`, or the \
            only capture except `expires_in` and `expires_at`.
            """,
          example: "\"Bearer ${token.access_token}\""),
        Key(
          "origins", \.origins, .list(.originPattern, atLeastOne: true), default: "none",
          doc: """
            Additional origins to which the token may be sent, each with a scheme and optionally a port; `*.` stands for \
            any subdomain.
            """,
          example: "[\"https://*.example.com\"]"),
      ],
      rules: [.atMostOne(["header", "query", "cookie"])],
      blank: { _, _ in Self() },
      place: { outer, _ in if case .token(let name) = outer { .apply(name) } else { outer } })

    var target: TokenApplication.Target {
      if let query { return .query(query) }
      if let cookie { return .cookie(cookie) }
      return .header(header ?? "Authorization")
    }
  }

  var application: Application {
    get {
      var application = Application(value: apply.value, origins: applyOrigins)
      switch apply.target {
      case .header(let name): application.header = name
      case .query(let name): application.query = name
      case .cookie(let name): application.cookie = name
      }
      return application
    }
    set {
      apply = TokenApplication(newValue.target, value: newValue.value ?? Template([]))
      applyOrigins = newValue.origins
    }
  }

  /// Sets the value of `apply` if the manifest does not specify it.
  mutating func finishApplication(_ node: YAMLNode, _ decoder: inout ManifestDecoder) {
    guard node["apply"]?["value"] == nil else { return }
    if let apply = node["apply"], apply.members == nil || decoder.isMisspelt("value", in: apply) { return }
    let names = capture.map(\.name)
    let tokens = names.filter { !["expires_in", "expires_at"].contains($0) }
    guard let name = names.contains("access_token") ? "access_token" : tokens.count == 1 ? tokens[0] : nil
    else {
      // Without captures, another diagnostic has been reported.
      guard !names.isEmpty, !decoder.isMisspelt("apply", in: node) else { return }
      decoder.report(
        .missingKey, at: node["apply"]?.location ?? decoder.owner.location,
        "'apply' has no 'value', and more than one capture could be the token",
        help:
          "write 'apply: { value: \"Bearer ${token.\(tokens.first ?? "NAME")}\" }', or name the capture access_token"
      )
      return
    }
    let token = Template.Segment.reference(.token(name))
    let isBearer = apply.header?.lowercased() == "authorization"
    apply.value = Template(isBearer ? [.literal("Bearer "), token] : [token])
  }
}

extension ValueKind where Value == String {
  /// The name of a cookie (RFC 6265, section 4.1.1).
  fileprivate static var cookieName: Self {
    constant("cookie name").refused { name in
      HeaderRule.isToken(name)
        ? nil
        : Problem(
          .invalidName, "this is not a valid cookie name",
          help: "use ASCII letters, digits, '-', '_' and '.'")
    }
  }
}
