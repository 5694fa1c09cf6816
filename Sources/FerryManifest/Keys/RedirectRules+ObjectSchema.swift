extension RedirectRules {
  static let shape = ObjectSchema<RedirectRules>(
    "Redirects",
    doc: """
      The handling of redirects. GET and HEAD follow 301, 302, 303, 307 and 308; PUT, DELETE, OPTIONS and TRACE \
      follow all of them except 303; any other method follows 307 and 308. A redirect that is not followed is the \
      final response.
      """,
    keys: [
      Key(
        "limit", \.limit, .integer(0...50),
        doc:
          "The maximum number of redirects to follow. A request that exceeds this number fails with `redirect`. With 0, the first redirect is the final response.",
        example: "10"),
      Key(
        "across_origins", \.acrossOrigins, .choice(),
        doc: """
          The handling of a request with a sensitive value (a secret, a token, a capture with `secret: true`) that a \
          redirect, or a URL from a response, would take to a different origin. `refuse`: the request fails with `redirect`. \
          `strip`: it is sent without its sensitive header fields; if its URL or body is sensitive, it fails. \
          `follow`: it is sent unchanged, even from https to http.
          """,
        example: "strip"),
      Key(
        "origins", \.origins, .list(.originPattern), default: "any origin",
        doc: """
          The only origins to which a redirect, a URL from a response, or a URL in a list of files may lead, in addition \
          to those of the session's URLs in the manifest. A request to another origin, such as a server in the local \
          network, fails with `redirect` before it is sent. An empty list allows only the origins of the manifest.
          """,
        example: "[\"https://*.example.com\"]"),
    ],
    blank: { _, _ in RedirectRules() })
}
