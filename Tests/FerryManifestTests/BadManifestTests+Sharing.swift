extension BadManifest {
  private static let catalog = "session: quick, request: { url: https://example.com/ }"

  /// F0601 to F0606, and other mistakes that involve several files or nodes.
  static let sharing: [BadManifest] = [
    BadManifest(
      "an include that is not there, and nothing said of what it would have brought",
      """
      include: [1️⃣comon.yaml]
      requests: { notify: { session: nightly, request: { url: "${vars.api}/done" }, 2️⃣mistake: 1 } }
      """,
      .error(
        "1️⃣", .unreadableInclude, "'comon.yaml' cannot be read: No such file or directory",
        help: "the path is relative to the folder of m.yaml"),
      .error(
        "2️⃣", .unknownKey, "unknown key 'mistake'",
        help:
          "valid keys are session, token, needs, when, request, sign, auth, expect, capture, decompress, retry, optional, repeatable, idempotency_key"
      )),
    BadManifest(
      "files that include each other", "include: [a.yaml]",
      .error(
        "1️⃣", .includeCycle, "these files include each other: a.yaml → b.yaml → a.yaml",
        help: "remove one of these includes"),
      files: ["a.yaml": "include: [b.yaml]", "b.yaml": "include: [1️⃣a.yaml]"]),
    BadManifest(
      "a session of two files", in: .nothing,
      """
      version: 1
      name: photos
      include: [common.yaml]
      sessions: { 1️⃣quick: { kind: background } }
      """,
      .error(
        "1️⃣", .includeClash, "'quick' is defined in two files",
        help: "included definitions cannot be overridden; rename or remove one of the two",
        notes: [("2️⃣", "also defined here")]),
      files: ["common.yaml": "sessions:\n  2️⃣quick: { kind: ephemeral }"]),
    BadManifest(
      "a mistake in a file that is included", "include: [common.yaml]",
      .error("1️⃣", .unknownKey, "unknown key 'knd'", help: "did you mean 'kind'?"),
      files: ["common.yaml": "sessions:\n  nightly: { 1️⃣knd: ephemeral }"]),
    BadManifest(
      "an included file that is no YAML", "include: [common.yaml]",
      .error(
        "1️⃣", .tab, "a tab cannot be used here",
        help: "indent with spaces; YAML does not allow tabs in indentation"),
      files: ["common.yaml": "vars:\n1️⃣\ta: b"]),
    BadManifest(
      "an included file that is a list", "include: [common.yaml]",
      .error(
        "1️⃣", .wrongType, "an included file must be a mapping, found a list",
        help: "write manifest keys such as 'sessions:'"),
      files: ["common.yaml": "1️⃣- sessions"]),
    BadManifest(
      "an instance where there is but one", in: .fetch, "request: { url: \"https://1️⃣${each.key}/\" }",
      .error(
        "1️⃣", .eachOutOfPlace, "'${each.key}' has a value only with 'for_each'",
        help: "add 'for_each' to the upload or fetch, or use ${vars.NAME}")),
    BadManifest(
      "a misspelt for_each, whose values are not out of place then", in: .fetch,
      "1️⃣foreach: [eu, us]\nrequest: { url: \"https://${each.key}/\" }",
      .error("1️⃣", .unknownKey, "unknown key 'foreach'", help: "did you mean 'for_each'?")),
    BadManifest(
      "an instance twice",
      "fetches: { catalog: { for_each: [2️⃣eu, us, 1️⃣eu], \(catalog), save_to: \"${each.key}\" } }",
      .error(
        "1️⃣", .duplicateEach, "'for_each' contains 'eu' twice", help: "remove one of them",
        notes: [("2️⃣", "first defined here")])),
    BadManifest(
      "a for_each of nothing", "fetches: { catalog: { for_each: 1️⃣[], \(catalog), save_to: a } }",
      .error("1️⃣", .emptyList, "'for_each' is empty", help: "add an element, or remove the key")),
    BadManifest(
      "a for_each of one word", "fetches: { catalog: { for_each: 1️⃣eu, \(catalog), save_to: a } }",
      .error(
        "1️⃣", .wrongType, "'for_each' must be a list of names, or a mapping, found the string 'eu'",
        help: "write [eu]")),
    BadManifest(
      "an instance that is a path",
      "fetches: { catalog: { for_each: [1️⃣eu/west], \(catalog), save_to: \"${each.key}\" } }",
      .error(
        "1️⃣", .invalidName, "a name cannot contain '/'",
        help: """
          use only ASCII letters, digits, '_', '-' and '.'; in a mapping, the key can be a different name: { eu: … }
          """)),
    BadManifest(
      "values that an instance has not, told once for all instances", in: .upload,
      """
      for_each: { eu: { host: a }, us: { host: b } }
      files: { root: "1️⃣${each.value.hots}" }
      transfer: { request: { url: "https://2️⃣${each.value}/3️⃣${each.name}" } }
      """,
      .error("1️⃣", .unknownReference, "the value of 'eu' has no 'hots'", help: "did you mean 'host'?"),
      .error(
        "2️⃣", .incompleteReference, "the value of 'eu' is a mapping", help: "write ${each.value.host}"),
      .error(
        "3️⃣", .unknownReference, "unknown reference '${each.name}'", help: "use each.key or each.value")),
    BadManifest(
      "a common value that is wrong for all",
      """
      defaults: { requests: { session: 1️⃣nightly }, retry: { limit: 2️⃣many } }
      requests: { a: { request: { url: https://a/ } }, b: { request: { url: https://b/ } } }
      """,
      .error("1️⃣", .unknownSession, "unknown session 'nightly'", help: "declare it under 'sessions:'"),
      .error(
        "2️⃣", .wrongType, "'limit' must be a whole number from 0 to 1000, found the string 'many'",
        help: "for example 'limit: 5'")),
    BadManifest(
      "a mistake in what an alias stands for",
      """
      requests:
        a: { session: quick, request: &done { url: https://example.com/, 1️⃣methd: GET } }
        b: { session: quick, request: 2️⃣*done }
      """,
      .error(
        "1️⃣", .unknownKey, "unknown key 'methd'", help: "did you mean 'method'?",
        notes: [("2️⃣", "used here")])),
  ]
}
