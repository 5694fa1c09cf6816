extension BadManifest {
  private static let noXPath =
    "write names only, such as 'Result/Id'; XPath is not supported, but 'regex' can capture any text"

  /// F0301, F0302 and F0309 to F0317: types, words, texts, names, paths and patterns.
  static let values: [BadManifest] = [
    BadManifest(
      "a number in quotes", in: .nothing, "version: 1️⃣\"1\"\nname: photos",
      .error(
        "1️⃣", .wrongType, "'version' must be the number 1, found the string '1'",
        help: "for example 'version: 1'")),
    BadManifest(
      "a list in the place of the manifest", in: .nothing, "1️⃣- version: 1",
      .error(
        "1️⃣", .wrongType,
        "the manifest must be a mapping with keys such as 'version', 'include', 'vars', found a list",
        help: "begin with 'version: 1' and 'name: …'")),
    BadManifest(
      "a digest that is too short", in: .fetch,
      "request: { url: https://example.com/ }\nchecksum: { sha256: 1️⃣9f86d0 }",
      .error(
        "1️⃣", .wrongType, "a SHA-256 digest consists of 64 hexadecimal digits",
        help: "write the digest as 'sha256sum' and similar programs print it")),
    BadManifest(
      "a partition that would be another option", "engine: { slurm: { partition: 1️⃣\"long --wrap=x\" } }",
      .error(
        "1️⃣", .invalidName, "this name cannot contain a space",
        help: "use only letters, digits and . _ - ,")),
    BadManifest(
      "a container image with a shell's characters", "engine: { kubernetes: { image: 1️⃣\"ferry;1\" } }",
      .error(
        "1️⃣", .invalidName, "this name cannot contain ';'",
        help: "write it as registry/name:tag or registry/name@sha256:…")),
    BadManifest(
      "a name that Kubernetes rejects", "engine: { kubernetes: { secret: 1️⃣My_Secret } }",
      .error(
        "1️⃣", .invalidName, "this is not a name that Kubernetes accepts",
        help:
          "use only lowercase letters, digits, '-' and '.', with a letter or digit at the beginning and at the end"
      )),
    BadManifest(
      "a number of CPUs with a unit", "engine: { kubernetes: { resources: { cpu: 1️⃣2cores } } }",
      .error(
        "1️⃣", .invalidName, "this is not a number of CPUs",
        help: "write a number such as 2 or 0.5, or thousandths such as 500m")),
    BadManifest(
      "a time limit that leaves no time to save the state", "engine: { slurm: { time: 1️⃣1m } }",
      .error("1️⃣", .outOfRange, "'time' must be at least 5m", help: "write 5m or more")),
    BadManifest(
      "a name in the place of a list", in: .request, "needs: 1️⃣photos\nrequest: { url: https://example.com/ }",
      .error("1️⃣", .wrongType, "'needs' must be a list, found the string 'photos'", help: "write [photos]")),
    BadManifest(
      "a session with nothing behind its colon", in: .nothing,
      "version: 1\nname: photos\nsessions:\n  quick:1️⃣\n",
      .error(
        "1️⃣", .wrongType,
        "'quick' must be a mapping with keys such as 'kind', 'identifier', 'discretionary', found nothing",
        help: "write 'quick: {}' to use the defaults")),
    BadManifest(
      "a yes of YAML 1.1", in: .session, "allows_cellular: 1️⃣yes",
      .error(
        "1️⃣", .wrongType, "'allows_cellular' must be true or false, found the string 'yes'",
        help: "write true; in YAML 1.2 'yes', 'no', 'on' and 'off' are strings")),
    BadManifest(
      "an invalid boolean", in: .session, "allows_cellular: 1️⃣maybe",
      .error(
        "1️⃣", .wrongType, "'allows_cellular' must be true or false, found the string 'maybe'",
        help: "for example 'allows_cellular: false'")),
    BadManifest(
      "more connections than there can be", in: .session, "max_connections_per_host: 1️⃣4000",
      .error(
        "1️⃣", .wrongType,
        "'max_connections_per_host' must be a whole number from 1 to 1000, found the number 4000",
        help: "for example 'max_connections_per_host: 4'")),
    BadManifest(
      "a part that is more than the whole", in: .request,
      "request: { url: https://example.com/ }\nretry: { jitter: 1️⃣25 }",
      .error(
        "1️⃣", .wrongType, "'jitter' must be a number from 0 to 1, found the number 25",
        help: "for example 'jitter: 0.25'")),
    BadManifest(
      "a secret in the place of where it is found", "secrets: { key: 1️⃣hunter2 }",
      .error(
        "1️⃣", .wrongType,
        "'key' must be a mapping with keys such as 'env', 'file', found the string 'hunter2'",
        help: "for example 'key: { env: PHOTOS_CLIENT_SECRET }'")),
    BadManifest(
      "a glob in the place of a selection", in: .upload,
      "files: 1️⃣'*.jpg'\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .wrongType,
        "'files' must be a mapping with keys such as 'root', 'include', 'exclude', found the string '*.jpg'",
        help: "for example 'files: { root: ~/Pictures }'")),
    BadManifest(
      "a URL in the place of a request", in: .request, "request: 1️⃣https://example.com/",
      .error(
        "1️⃣", .wrongType,
        """
        'request' must be a mapping with keys such as 'method', 'url', 'query', \
        found the string 'https://example.com/'
        """,
        help: "for example 'request: { url: https://example.com/uploads }'")),
    BadManifest(
      "variables in a list, and nothing said of those that are used",
      "vars: 1️⃣[api: a]\nsecrets: { key: { file: \"${vars.api}/key\" } }",
      .error(
        "1️⃣", .wrongType, "'vars' must be a mapping of names to strings, found a list",
        help: "for example 'vars: { api: \"${env.API:-http://127.0.0.1:8080}\" }'")),
    BadManifest(
      "headers in a list", in: .http, "headers: 1️⃣['Accept: text/plain']",
      .error(
        "1️⃣", .wrongType, "'headers' must be a mapping of headers, found a list",
        help: "for example 'headers: { Accept: application/json }'")),
    BadManifest(
      "sessions in a list, and nothing said of those that are used", in: .nothing,
      """
      version: 1
      name: photos
      sessions: 1️⃣[quick]
      requests: { notify: { session: quick, request: { url: https://example.com/ } } }
      """,
      .error(
        "1️⃣", .wrongType, "'sessions' must be a mapping with names as keys, found a list",
        help: "for example 'sessions: { NAME: {} }'")),
    BadManifest(
      "a text that is a mapping", in: .http, "headers: { X-Note: 1️⃣{ a: b } }",
      .error(
        "1️⃣", .wrongType, "'X-Note' must be a string, found a mapping", help: "write a string")),
    BadManifest(
      "half a retry", in: .request, "request: { url: https://example.com/ }\nretry: { limit: 1️⃣2.5 }",
      .error(
        "1️⃣", .wrongType, "'limit' must be a whole number from 0 to 1000, found the number 2.5",
        help: "for example 'limit: 5'")),
    BadManifest(
      "a status that HTTP has not", in: .request,
      "request: { url: https://example.com/ }\nexpect: { status: [200, 1️⃣2000] }",
      .error(
        "1️⃣", .wrongType, "'status' must be a whole number from 100 to 599, found the number 2000",
        help: "for example 'status: [200, 201, 204]'")),
    BadManifest(
      "an interval without its bound", in: .fetch, "request: { url: https://example.com/ }\ninterval: 1️⃣15m",
      .error(
        "1️⃣", .unknownWord, "'interval' must be every_run, never or { minimum: … }, found '15m'",
        help: "write { minimum: 15m }")),
    BadManifest(
      "a word for what becomes of a file", in: .upload,
      "files: {}\nafter: 1️⃣archive\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .unknownWord, "'after' must be keep or delete, found 'archive'",
        help: "for example 'after: { move_to: sent/ }'")),
    BadManifest(
      "a folder for delivered files that is the root", in: .upload,
      "files: {}\nafter: { move_to: 1️⃣./ }\ntransfer: { request: { url: https://example.com/ } }",
      .error("1️⃣", .invalidPath, "this is 'root' itself", help: "specify a folder below it, such as sent/")),
    BadManifest(
      "a status that is no list", in: .request,
      "request: { url: https://example.com/ }\nexpect: { status: 1️⃣200 }",
      .error("1️⃣", .wrongType, "'status' must be a list, found the number 200", help: "write [200]")),
    BadManifest(
      "a misspelt word", in: .session, "kind: 1️⃣defualt",
      .error(
        "1️⃣", .unknownWord, "'kind' must be default, ephemeral or background, found 'defualt'",
        help: "did you mean 'default'?")),
    BadManifest(
      "a word that is like none", in: .request, "request: { url: https://example.com/ }\nwhen: 1️⃣friday",
      .error(
        "1️⃣", .unknownWord, "'when' must be succeeded, failed or always, found 'friday'",
        help: "for example 'when: always'")),
    BadManifest(
      "a priority that is no word", in: .upload,
      "files: {}\npriority: 1️⃣hihg\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .unknownWord, "'priority' must be a number from 0 to 1, or low, default or high, found 'hihg'",
        help: "did you mean 'high'?")),
    BadManifest(
      "a time zone with a space", "budgets:\n  wifi: { limit: 5GB, per: day, time_zone: 1️⃣New York }",
      .error(
        "1️⃣", .unknownWord, "'New York' is not the name of a time zone",
        help: "write a name such as Europe/Berlin or UTC (the IANA time zone database)")),
    BadManifest(
      "a name of no letters", in: .nothing, "version: 1\nname: 1️⃣''",
      .error("1️⃣", .emptyText, "'name' is empty", help: "specify a name")),
    BadManifest(
      "a variable that is empty where a path is wanted", in: .upload,
      """
      files: { root: 1️⃣"${env.PHOTOS}" }
      transfer: { request: { url: https://example.com/ } }
      """,
      .error("1️⃣", .emptyText, "'root' is empty", help: "specify a path"), environment: ["PHOTOS": ""]),
    BadManifest(
      "a line end in a path",
      """
      fetches:
        list: { session: quick, request: { url: https://example.com/ }, save_to: 1️⃣"list.txt\\n" }
      """,
      .error("1️⃣", .controlCharacter, "'save_to' contains a control character", help: "remove it")),
    BadManifest(
      "no status at all", in: .request, "request: { url: https://example.com/ }\nexpect: { status: 1️⃣[] }",
      .error("1️⃣", .emptyList, "'status' is an empty list", help: "add an element, or remove the key")),
    BadManifest(
      "a slash in the name of a session", "vars: { 1️⃣photos/2026: a }",
      .error(
        "1️⃣", .invalidName, "a name cannot contain '/'",
        help: "use only ASCII letters, digits, '_' and '-'")),
    BadManifest(
      "a space in the manifest's name", in: .nothing, "version: 1\nname: 1️⃣My photos",
      .error(
        "1️⃣", .invalidName, "a name cannot contain a space",
        help: "use only ASCII letters, digits, '_', '-' and '.'")),
    BadManifest(
      "an identifier that would be a hidden file", in: .session, "identifier: 1️⃣.photos",
      .error(
        "1️⃣", .invalidName, "a name cannot begin with a dot or contain two dots in a row",
        help: "the name is used as a file name; remove the dots")),
    BadManifest(
      "a name of a hundred and one letters", "vars: { 1️⃣\(String(repeating: "x", count: 101)): a }",
      .error("1️⃣", .invalidName, "a name must have 1 to 100 characters", help: "choose a shorter name")),
    BadManifest(
      "a token called none",
      """
      tokens:
        1️⃣none:
          session: quick
          request: { url: https://example.com/ }
          capture: { key: { json: /key } }
          apply: { header: X-Key, value: "${token.key}" }
      """,
      .error(
        "1️⃣", .invalidName, "a token cannot be named 'none'",
        help: "'token: none' on a step omits the token; choose a different name")),
    BadManifest(
      "a file outside the manifest's folder",
      """
      fetches:
        up: { session: quick, request: { url: https://example.com/ }, save_to: 1️⃣../catalog.json }
        root: { session: quick, request: { url: https://example.com/ }, save_to: 2️⃣/etc/catalog.json }
        folder: { session: quick, request: { url: https://example.com/ }, save_to: 3️⃣catalog/ }
      """,
      .error(
        "1️⃣", .invalidPath, "this path leaves its folder with '..'",
        help: "specify a path below the manifest's folder"),
      .error(
        "2️⃣", .invalidPath, "this path must be relative", help: "specify a path below the manifest's folder"),
      .error("3️⃣", .invalidPath, "this path refers to a folder", help: "specify a file")),
    BadManifest(
      "a file outside the manifest's folder, behind a slash that a mark combines with",
      """
      fetches:
        up: { session: quick, request: { url: https://example.com/ }, save_to: 1️⃣"../\u{301}/catalog.json" }
        root: { session: quick, request: { url: https://example.com/ }, save_to: 2️⃣"/\u{301}/catalog.json" }
      """,
      .error(
        "1️⃣", .invalidPath, "this path leaves its folder with '..'",
        help: "specify a path below the manifest's folder"),
      .error(
        "2️⃣", .invalidPath, "this path must be relative", help: "specify a path below the manifest's folder")),
    BadManifest(
      "globs that match nothing by their letters", in: .upload,
      """
      files: { include: [1️⃣/srv/*.jpg, 2️⃣../*.jpg, 3️⃣"*.{jpg,png", 4️⃣"[a-z.jpg"] }
      transfer: { request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .invalidGlob, "a glob must be relative to 'root'", help: "remove the leading '/'"),
      .error("2️⃣", .invalidGlob, "a glob cannot leave 'root' with '..'", help: "choose another 'root'"),
      .error(
        "3️⃣", .invalidGlob, "'{' is not closed in this glob",
        help: "close it, or write '[{]' for a literal '{'"),
      .error(
        "4️⃣", .invalidGlob, "'[' is not closed in this glob",
        help: "close it, or write '[[]' for a literal '['")),
    BadManifest(
      "a path of jq and one of JSONPath", in: .request,
      """
      request: { url: https://example.com/ }
      capture: { a: { json: 1️⃣data.id }, b: { json: 2️⃣"$.items[0].id" }, c: { json: 3️⃣/a~b } }
      """,
      .error(
        "1️⃣", .invalidPointer, "a JSON pointer must begin with '/'", help: "write '/data/id' (RFC 6901)"),
      .error(
        "2️⃣", .invalidPointer, "a JSON pointer must begin with '/'", help: "write '/items/0/id' (RFC 6901)"),
      .error(
        "3️⃣", .invalidPointer, "'~' is not followed by 0 or 1 in this JSON pointer",
        help: "write '~0' for '~' (RFC 6901)")),
    BadManifest(
      "paths of XPath", in: .request,
      """
      request: { url: https://example.com/ }
      capture:
        a: { xml: 1️⃣/Result/Id }
        b: { xml: 2️⃣// }
        c: { xml: 3️⃣"Result/s3:Id" }
        d: { xml: 4️⃣"Result/Part[1]" }
        e: { xml: 5️⃣"Result/@id" }
        f: { xml: 6️⃣a b }
        g: { xml: 7️⃣":" }
      """,
      .error(
        "1️⃣", .invalidElementPath, "an element path consists of names with one '/' between them",
        help: "write 'Result/Id' if its first name is the root element; otherwise, add the elements above it"),
      .error(
        "2️⃣", .invalidElementPath, "an element path consists of names with one '/' between them",
        help: "write the names of the elements from the root, such as 'Result/Id'"),
      .error(
        "3️⃣", .invalidElementPath, "an element path has no namespace prefixes, found 's3:Id'",
        help: "write 'Id'; namespaces are ignored"),
      .error("4️⃣", .invalidElementPath, "'Part[1]' is not the name of an XML element", help: Self.noXPath),
      .error("5️⃣", .invalidElementPath, "'@id' is not the name of an XML element", help: Self.noXPath),
      .error("6️⃣", .invalidElementPath, "'a b' is not the name of an XML element", help: Self.noXPath),
      .error("7️⃣", .invalidElementPath, "':' is not the name of an XML element", help: Self.noXPath)),
    BadManifest(
      "an element path with too many names", in: .request,
      "request: { url: https://example.com/ }\ncapture: { a: { xml: 1️⃣"
        + Array(repeating: "a", count: 257).joined(separator: "/") + " } }",
      .error(
        "1️⃣", .invalidElementPath, "this element path has 257 names", help: "write at most 256 names")),
    BadManifest(
      "regular expressions that capture nothing", in: .request,
      """
      request: { url: https://example.com/ }
      capture: { a: { regex: 1️⃣'id=\\w+' }, b: { regex: 2️⃣'id=(' } }
      """,
      .error(
        "1️⃣", .invalidPattern, "this regular expression has no capture group",
        help: "put the part to capture in ( )"),
      .error(
        "2️⃣", .invalidPattern,
        "this regular expression does not compile: missing closing parenthesis, after 'id=('",
        help: "see the syntax of PCRE2, pcre2syntax(3)")),
    BadManifest(
      "a capture that is a refusal", in: .request,
      "request: { url: https://example.com/ }\ncapture: { code: { status: 1️⃣false } }",
      .error(
        "1️⃣", .onlyTrue, "this key can only be true",
        help: "write 'true', or remove the key")),
    BadManifest(
      "a token for one step", in: .upload,
      "files: {}\ntransfer: { token: 1️⃣login, request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .stepToken, "a step's 'token' can only be 'none'",
        help: "the steps of an upload use its token; set it on the upload: 'token: login'")),
  ]
}
