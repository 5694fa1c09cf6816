extension BadManifest {
  /// F0501 and F0502: cycles of dependencies and of variables.
  static let circles: [BadManifest] = [
    BadManifest(
      "three nodes that wait for each other",
      """
      fetches:
        a: { session: quick, needs: [1️⃣b], request: { url: https://example.com/ }, save_to: a }
        b: { session: quick, needs: [2️⃣c], request: { url: https://example.com/ }, save_to: b }
        c: { session: quick, needs: [3️⃣a], request: { url: https://example.com/ }, save_to: c }
        d: { session: quick, needs: [a], request: { url: https://example.com/ }, save_to: d }
      """,
      .error(
        "1️⃣", .cycle, "dependency cycle: a → b → c → a",
        help: "remove one of these names from 'needs', or one of the references",
        notes: [("2️⃣", "'b' waits for 'c' here"), ("3️⃣", "'c' waits for 'a' here")])),
    BadManifest(
      "a node that waits for itself", in: .request,
      "needs: [1️⃣notify]\nrequest: { url: https://example.com/ }",
      .error(
        "1️⃣", .cycle, "'notify' waits for itself",
        help: "remove this name or reference; the step could never start")),
    BadManifest(
      "a request that sends what it captures", in: .request,
      """
      request: { url: "https://example.com/1️⃣${requests.notify.id}" }
      capture: { id: { json: /id } }
      """,
      .error(
        "1️⃣", .cycle, "'notify' waits for itself",
        help: "remove this name or reference; the step could never start")),
    BadManifest(
      "a token that waits for a node which carries it",
      """
      tokens:
        login:
          session: quick
          request: { url: "https://example.com/2️⃣${requests.discover.path}" }
          capture: { key: { json: /key } }
          apply: { header: X-Key, value: "${token.key}" }
      requests:
        discover:
          session: quick
          token: 1️⃣login
          request: { url: https://example.com/ }
          capture: { path: { json: /path } }
      """,
      .error(
        "1️⃣", .cycle, "dependency cycle: discover → login → discover",
        help: "remove one of these names from 'needs', or one of the references",
        notes: [("2️⃣", "'login' waits for 'discover' here")])),
    BadManifest(
      "variables that stand for each other", "vars:\n  a: 2️⃣${vars.b}\n  b: x3️⃣${vars.c}\n  c: 1️⃣${vars.a}",
      .error(
        "1️⃣", .variableCircle, "variables form a cycle: a → b → c → a",
        help: "give one of them a literal value",
        notes: [("2️⃣", "'b' is used here"), ("3️⃣", "'c' is used here")])),
    BadManifest(
      "a variable that refers to itself", "vars: { path: \"/bin:1️⃣${vars.path}\" }",
      .error(
        "1️⃣", .variableCircle, "variable 'path' refers to itself",
        help: "give it a literal value, or use ${env.NAME}")),
  ]
}
