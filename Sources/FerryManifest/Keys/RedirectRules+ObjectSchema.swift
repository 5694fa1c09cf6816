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
    ],
    blank: { _, _ in RedirectRules() })
}
