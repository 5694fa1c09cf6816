extension RequestAuth {
  static let shape = ObjectSchema<Self>(
    "Auth",
    doc: """
      The credentials for a server's authentication challenge (401 with `WWW-Authenticate`), to which ferry responds \
      within the same request. ferry sends them only after an origin has asked for them (except with `preemptive`), and only to origins \
      of the manifest.
      """,
    keys: [
      Key(
        "scheme", \.known.scheme, .choice(),
        doc: """
          The authentication scheme. `any`: the strongest of Digest, NTLM and Basic that the server offers. \
          `negotiate` \
          uses the Kerberos tickets of the user who runs ferry.
          """,
        example: "digest"),
      Key(
        "user", \.known.user, .template(), default: "none", doc: "The user name.",
        example: "ferry"),
      Key(
        "password", \.known.password, .template(), default: "empty", doc: "The password.",
        example: "\"${secrets.password}\""),
      Key(
        "netrc", \.known.netrc, .path, default: "none",
        doc: """
          A file with user names and passwords for hosts, in the format of netrc(5), which is read when a run starts. \
          The path is relative to the manifest's folder; `~/` is the home directory.
          """,
        example: "~/.netrc"),
      Key(
        "preemptive", \.known.isPreemptive, .boolean,
        doc: "Whether Basic credentials are sent with the first request, without a challenge.",
        example: "true"),
    ],
    rules: [
      .requires("password", "user"), .atMostOne(["netrc", "user"]),
    ],
    blank: { _, _ in .credentials(HTTPCredentials()) },
    finish: { auth, node, decoder in
      guard case .credentials(let known) = auth, known.scheme != .negotiate, node["user"] == nil,
        node["netrc"] == nil, !node.isIncomplete
      else { return }
      decoder.report(
        .missingAlternative, at: decoder.owner.location, "'auth' requires 'user' or 'netrc'",
        help: "add 'user: …' and 'password: …', or 'netrc: ~/.netrc'")
    })

  private var known: HTTPCredentials {
    get { if case .credentials(let credentials) = self { credentials } else { HTTPCredentials() } }
    set { self = .credentials(newValue) }
  }
}

extension Key {
  /// `auth` of a session.
  static func auth(_ path: WritableKeyPath<Object, RequestAuth?> & Sendable) -> Self {
    Key(
      "auth", path, .object(RequestAuth.shape), default: "none",
      doc: "The credentials for every request in the session, unless the request specifies its own.",
      example: "{ user: ferry, password: \"${secrets.password}\" }")
  }

  /// `auth` next to a request.
  static func stepAuth(_ path: WritableKeyPath<Object, RequestAuth?> & Sendable) -> Self {
    Key(
      "auth", path, .wordOr("none", meaning: .off, .object(RequestAuth.shape)), default: "the session's",
      doc: "The credentials for the request. `none` omits the session's credentials.",
      example: "{ user: ferry, password: \"${secrets.password}\" }")
  }
}
