extension BadManifest {
  /// F0401 to F0403 and F0412 to F0421: names of sessions, tokens and nodes, and values from the environment.
  static let names: [BadManifest] = [
    BadManifest(
      "a misspelt session", "requests:\n  notify: { session: 1️⃣quik, request: { url: https://example.com/ } }",
      .error("1️⃣", .unknownSession, "unknown session 'quik'", help: "did you mean 'quick'?")),
    BadManifest(
      "a session that nobody declared",
      "requests:\n  notify: { session: 1️⃣nightly, request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .unknownSession, "unknown session 'nightly'", help: "declare it under 'sessions:'")),
    BadManifest(
      "a token that nobody declared, whose captures are not told", in: .request,
      """
      token: 1️⃣login
      request: { url: "https://example.com/${token.key}" }
      """,
      .error("1️⃣", .unknownToken, "unknown token 'login'", help: "declare it under 'tokens:'")),
    BadManifest(
      "no token, in so many words", in: .request, "token: 1️⃣none\nrequest: { url: https://example.com/ }",
      .error(
        "1️⃣", .unknownToken, "unknown token 'none'",
        help: "omit 'token'; only a step of an upload can have 'token: none'")),
    BadManifest(
      "a misspelt node", in: .request,
      """
      needs: [1️⃣catalogue]
      request: { url: https://example.com/ }
      """,
      .error(
        "1️⃣", .unknownNode, "unknown node 'catalogue'",
        help: "declare it under 'uploads:', 'downloads:', 'fetches:' or 'requests:'")),
    BadManifest(
      "a session where a node is wanted", in: .request,
      "needs: [1️⃣quick]\nrequest: { url: https://example.com/ }",
      .error(
        "1️⃣", .unknownNode, "unknown node 'quick'", help: "it is a session; 'needs' requires a node")),
    BadManifest(
      "a token's capture in a node that names no token",
      """
      tokens:
        login:
          session: quick
          request: { url: https://example.com/ }
          capture: { key: { json: /key } }
          apply: { header: X-Key, value: "${token.key}" }
      requests:
        notify:
          session: quick
          request: { url: "https://example.com/1️⃣${token.key}" }
      """,
      .error(
        "1️⃣", .nodeWithoutToken, "'notify' does not name a token, so '${token.…}' has no value",
        help: "add 'token: login' to 'notify'")),
    BadManifest(
      "an upload ID that nobody allocates", in: .upload,
      "files: {}\ntransfer: { request: { url: \"https://example.com/1️⃣${allocate.id}\" } }",
      .error(
        "1️⃣", .missingStep, "'photos' has no 'allocate' step",
        help: "add 'allocate:' with 'capture', or remove the reference")),
    BadManifest(
      "a session that nobody creates", in: .upload,
      "files: {}\ntransfer: { protocol: 1️⃣content_range, request: { url: \"https://example.com/session\" } }",
      .error(
        "1️⃣", .missingStep,
        "'protocol: content_range' sends the file to a session, but this upload has no 'allocate' step to create the session",
        help: "add 'allocate' with a capture of the session's URL, and refer to it in the transfer's 'url'")),
    BadManifest(
      "an environment variable that is not set", "vars: { api: \"1️⃣${env.API}\" }",
      .error(
        "1️⃣", .environmentNotSet, "environment variable 'API' is not set",
        help: "set it, or give a default: ${env.API:-default}")),
    BadManifest(
      "an environment variable with a default of another notation", "vars: { api: \"1️⃣${env.API=here}\" }",
      .error(
        "1️⃣", .invalidEnvironmentName, "'${env.API=here}' does not name an environment variable",
        help: "write ${env.NAME} or ${env.NAME:-default}")),
    BadManifest(
      "a default that refers to something", "vars: { host: a, api: \"1️⃣${env.API:-${vars.host}}\" }",
      .error(
        "1️⃣", .referenceInDefault, "a default cannot contain a reference",
        help: "write a literal default, or declare a variable in 'vars'")),
    BadManifest(
      "two nodes of one name",
      """
      fetches: { 2️⃣photos: { session: quick, request: { url: https://example.com/ }, save_to: a } }
      requests: { 1️⃣photos: { session: quick, request: { url: https://example.com/ } } }
      """,
      .error(
        "1️⃣", .duplicateNode, "another node is already named 'photos'",
        help: "uploads, downloads, fetches and requests share one namespace; choose a different name",
        notes: [("2️⃣", "first defined here")])),
    BadManifest(
      "two sessions of one journal", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { a: { identifier: 2️⃣nightly }, b: { identifier: 1️⃣nightly } }
      """,
      .error(
        "1️⃣", .duplicateIdentifier, "another session already has the identifier 'nightly'",
        help: "each session needs a separate journal; choose a different identifier",
        notes: [("2️⃣", "first used here")])),
    BadManifest(
      "a session that takes the name which another has by default", in: .nothing,
      "version: 1\nname: photos\nsessions: { 2️⃣a: {}, b: { identifier: 1️⃣photos.a } }",
      .error(
        "1️⃣", .duplicateIdentifier, "another session already has the identifier 'photos.a'",
        help: "each session needs a separate journal; choose a different identifier",
        notes: [("2️⃣", "first used here")])),
    BadManifest(
      "a variable on the command line that the manifest has not", "1️⃣vars: { folder: a }",
      .error(
        "1️⃣", .undeclaredVariable, "--var floder: the manifest does not declare this variable",
        help: "did you mean 'folder'?"), variables: ["floder": "b"]),
    BadManifest(
      "a variable on the command line of a manifest without any", in: .nothing, "1️⃣version: 1\nname: photos",
      .error(
        "1️⃣", .undeclaredVariable, "--var folder: the manifest does not declare this variable",
        help: "the manifest has no 'vars'"), variables: ["folder": "b"]),
    BadManifest(
      "variables that the command line should give",
      "vars:\n  1️⃣folder: { type: string }\n  2️⃣host: { description: where the photos go }",
      .error(
        "1️⃣", .missingVariable, "variable 'folder' has no value",
        help: "set it with --var folder=…, or a 'default' here"),
      .error(
        "2️⃣", .missingVariable, "variable 'host' has no value",
        help: "set it with --var host=…: where the photos go")),
    BadManifest(
      "defaults that are not of their types",
      """
      vars:
        2️⃣port: { type: integer, default: 1️⃣many }
        4️⃣wait: { type: duration, default: 3️⃣30 }
        6️⃣api: { type: url, default: 5️⃣example.com }
      """,
      .error(
        "1️⃣", .invalidVariable, "variable 'port' must be a whole number",
        help: "its type is declared as 'integer'", notes: [("2️⃣", "declared here")]),
      .error(
        "3️⃣", .invalidVariable, "variable 'wait' must be a duration such as 30s",
        help: "its type is declared as 'duration'", notes: [("4️⃣", "declared here")]),
      .error(
        "5️⃣", .invalidVariable, "variable 'api' must be a URL",
        help: "its type is declared as 'url'", notes: [("6️⃣", "declared here")])),
    BadManifest(
      "a value of the command line that is not of its type",
      "vars: { 1️⃣port: { type: integer, default: 80 } }",
      .error(
        "1️⃣", .invalidVariable, "variable 'port' must be a whole number",
        help: "its type is declared as 'integer'; set a different value with --var"),
      variables: ["port": "https"]),
  ]
}
