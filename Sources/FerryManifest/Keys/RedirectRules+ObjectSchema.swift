extension RedirectRules {
  static let shape = ObjectSchema<RedirectRules>(
    "Redirects",
    doc: """
      How redirects are followed. GET and HEAD follow 301, 302, 303, 307 and 308; PUT, DELETE, OPTIONS and TRACE \
      follow all of them except 303; any other method follows 307 and 308. A redirect that is not followed is the \
      final response.
      """,
    keys: [
      Key(
        "limit", \.limit, .integer(0...50),
        doc:
          "The maximum number of redirects that are followed; one more fails with `redirect`. With 0, the first redirect is the final response.",
        example: "10"),
      Key(
        "across_origins", \.acrossOrigins, .choice(),
        doc: """
          What happens to a request with a sensitive value (a secret, a token, a capture with `secret: true`) that a \
          redirect, or a URL from a response, would take to another origin. `refuse`: it fails with `redirect`. \
          `strip`: it is sent there without its sensitive header fields; with a sensitive URL or body it fails. \
          `follow`: it is sent there unchanged, even from https to http.
          """,
        example: "strip"),
    ],
    blank: { _, _ in RedirectRules() })
}
