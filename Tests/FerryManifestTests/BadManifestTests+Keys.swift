extension BadManifest {
  /// F0201 to F0207: unknown, missing and conflicting keys.
  static let keys: [BadManifest] = [
    BadManifest(
      "a misspelt section, and nothing said of the names in it", in: .nothing,
      """
      version: 1
      name: photos
      1️⃣sesions: { quick: {} }
      requests: { notify: { session: quick, request: { url: https://example.com/ } } }
      """,
      .error("1️⃣", .unknownKey, "unknown key 'sesions'", help: "did you mean 'sessions'?")),
    BadManifest(
      "a key from nowhere", in: .session, "kind: default\n1️⃣colour: blue",
      .error(
        "1️⃣", .unknownKey, "unknown key 'colour'",
        help: """
          valid keys are kind, identifier, discretionary, allows_cellular, allows_expensive, \
          max_connections_per_host, timeout_for_request, timeout_for_resource, cache_policy, service_type, \
          on_events, headers, sign, auth, redirects, tls, http_version, proxy, resolve, unix_socket, minimum_speed, \
          max_bandwidth
          """)),
    BadManifest(
      "an unknown key that may stand for a variable's default", "vars: { now: { 1️⃣command: date } }",
      .error(
        "1️⃣", .unknownKey, "unknown key 'command'",
        help: "valid keys are type, default, description, required")),
    BadManifest(
      "an unknown key of a variable that is required in any case",
      "vars: { 2️⃣now: { required: true, 1️⃣command: date } }",
      .error(
        "2️⃣", .missingVariable, "variable 'now' has no value",
        help: "set it with --var now=…, or a 'default' here"),
      .error(
        "1️⃣", .unknownKey, "unknown key 'command'",
        help: "valid keys are type, default, description, required")),
    BadManifest(
      "an unknown key that may stand for a secret's source", "secrets: { key: { 1️⃣command: pass } }",
      .error("1️⃣", .unknownKey, "unknown key 'command'", help: "valid keys are env, file")),
    BadManifest(
      "a required key that is misspelt, which is not missing then", in: .request,
      "1️⃣reqest: { url: https://example.com/ }",
      .error("1️⃣", .unknownKey, "unknown key 'reqest'", help: "did you mean 'request'?")),
    BadManifest(
      "a key that stands one level too high", in: .request, "1️⃣url: https://example.com/",
      .error("1️⃣", .unknownKey, "unknown key 'url'", help: "move it into 'request'")),
    BadManifest(
      "a misspelt step, whose captures are not missing then", in: .upload,
      """
      files: {}
      1️⃣alocate: { request: { url: https://example.com/ }, capture: { id: { json: /id } } }
      transfer: { request: { url: "https://example.com/${allocate.id}" } }
      """,
      .error("1️⃣", .unknownKey, "unknown key 'alocate'", help: "did you mean 'allocate'?")),
    BadManifest(
      "a misspelt capture, which is not missing then", in: .upload,
      """
      files: {}
      allocate: { request: { url: https://example.com/ }, 1️⃣captures: { id: { json: /id } } }
      transfer: { request: { url: "https://example.com/${allocate.id}" } }
      """,
      .error("1️⃣", .unknownKey, "unknown key 'captures'", help: "did you mean 'capture'?")),
    BadManifest(
      "a misspelt token, whose captures are not out of place then", in: .request,
      """
      1️⃣tokn: login
      request: { url: "https://example.com/${token.key}" }
      """,
      .error("1️⃣", .unknownKey, "unknown key 'tokn'", help: "did you mean 'token'?")),
    BadManifest(
      "a manifest without a name", in: .nothing, "1️⃣version: 1",
      .error("1️⃣", .missingKey, "the manifest has no 'name'", help: "add 'name: photos'")),
    BadManifest(
      "an upload without files and transfer", "uploads:\n  1️⃣photos: { session: quick }",
      .error("1️⃣", .missingKey, "'photos' has no 'files'", help: "add 'files: {}'"),
      .error(
        "1️⃣", .missingKey, "'photos' has no 'transfer'",
        help: "add 'transfer: { request: { url: https://example.com/uploads } }'")),
    BadManifest(
      "a node without a session where none is declared", in: .nothing,
      """
      version: 1
      name: photos
      uploads:
        1️⃣photos: { files: {}, transfer: { request: { url: https://example.com/ } } }
      """,
      .error(
        "1️⃣", .missingKey, "'photos' has no 'session'",
        help: "declare a session, for example 'sessions: { uploads: {} }', and add 'session: uploads'")),
    BadManifest(
      "a node without a session where one is declared",
      "requests: { 1️⃣notify: { request: { url: https://example.com/ } } }",
      .error("1️⃣", .missingKey, "'notify' has no 'session'", help: "add 'session: quick'")),
    BadManifest(
      "a node without a session where several are declared", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { quick: {}, long: {} }
      requests: { 1️⃣notify: { request: { url: https://example.com/ } } }
      """,
      .error("1️⃣", .missingKey, "'notify' has no 'session'", help: "add 'session:' with 'quick' or 'long'")),
    BadManifest(
      "a node without a session where the sessions are not readable", in: .nothing,
      """
      version: 1
      name: photos
      sessions: 2️⃣quick
      requests: { 1️⃣notify: { request: { url: https://example.com/ } } }
      """,
      .error(
        "2️⃣", .wrongType, "'sessions' must be a mapping with names as keys, found the string 'quick'",
        help: "for example 'sessions: { NAME: {} }'"),
      .error("1️⃣", .missingKey, "'notify' has no 'session'", help: "add 'session: quick'")),
    BadManifest(
      "a request without a URL", in: .request, "1️⃣request: { method: GET }",
      .error("1️⃣", .missingKey, "'request' has no 'url'", help: "add 'url: https://example.com/uploads'")),
    BadManifest(
      "two bodies", in: .http, "2️⃣form: { a: b }\n1️⃣json: { a: b }",
      .error(
        "1️⃣", .excludingKeys, "'json' and 'form' are mutually exclusive", help: "keep one of them",
        notes: [("2️⃣", "'form' is set here")])),
    BadManifest(
      "a list of files together with globs", in: .upload,
      """
      files: { 3️⃣list: files.txt, 1️⃣include: ["*.jpg"], 2️⃣exclude: [".*"] }
      transfer: { request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .excludingKeys, "'include' and 'list' are mutually exclusive", help: "keep one of them",
        notes: [("3️⃣", "'list' is set here")]),
      .error(
        "2️⃣", .excludingKeys, "'exclude' and 'list' are mutually exclusive", help: "keep one of them",
        notes: [("3️⃣", "'list' is set here")])),
    BadManifest(
      "a capture from two places", in: .request,
      """
      request: { url: https://example.com/ }
      capture: { id: { 2️⃣json: /id, 1️⃣header: Location } }
      """,
      .error(
        "1️⃣", .excludingKeys, "'header' and 'json' are mutually exclusive", help: "keep one of them",
        notes: [("2️⃣", "'json' is set here")])),
    BadManifest(
      "a variable that is required and has a default",
      "vars: { port: { required: 1️⃣true, default: 2️⃣80 } }",
      .error(
        "1️⃣", .excludingKeys, "a variable with a default cannot be required", help: "keep one of them",
        notes: [("2️⃣", "'default' is set here")])),
    BadManifest(
      "a capture from nowhere", in: .request,
      "request: { url: https://example.com/ }\ncapture: { 1️⃣id: { secret: true } }",
      .error(
        "1️⃣", .missingAlternative, "'id' requires 'json', 'header', 'regex', 'status' or 'xml'",
        help: "add exactly one of them, for example 'json: /id'")),
    BadManifest(
      "a secret from nowhere", "secrets: { 1️⃣key: {} }",
      .error(
        "1️⃣", .missingAlternative, "'key' requires 'env' or 'file'",
        help: "add exactly one of them, for example 'env: PHOTOS_CLIENT_SECRET'")),
    BadManifest(
      "a NUL without a list", in: .upload,
      "files: { 1️⃣null: true }\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .keyWithoutOther, "'null' is valid only with 'list'", help: "add 'list:', or remove 'null'")),
    BadManifest(
      "a body of a transfer", in: .upload,
      """
      files: {}
      transfer: { request: { url: https://example.com/, 1️⃣json: { name: "${file.name}" } } }
      """,
      .error(
        "1️⃣", .transferBody, "a transfer cannot have 'json': its body is the file",
        help: "move it to 'allocate' or 'commit'")),
    BadManifest(
      "a form in a transfer's request", in: .upload,
      "files: {}\ntransfer: { request: { url: https://example.com/, 1️⃣form: { title: a } } }",
      .error(
        "1️⃣", .transferBody, "a transfer cannot have 'form': its body is the file",
        help:
          "move it to 'allocate' or 'commit', or move it next to 'request' and add 'protocol: multipart_form' to send "
          + "the file in a form")),
    BadManifest(
      "a form without a protocol", in: .upload,
      "files: {}\ntransfer: { 1️⃣form: {}, request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .keyWithoutOther, "'form' is valid only with 'protocol: multipart_form'",
        help: "add 'protocol: multipart_form', or remove 'form'")),
    BadManifest(
      "a form of another protocol", in: .upload,
      "files: {}\ntransfer: { protocol: post, 1️⃣form: {}, request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .keyWithoutOther, "'form' is valid only with 'protocol: multipart_form'",
        help: "write 'protocol: multipart_form', or remove 'form'")),
    BadManifest(
      "a form of a protocol that does not exist", in: .upload,
      "files: {}\ntransfer: { protocol: 1️⃣multipart_forms, form: {}, request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .unknownWord,
        "'protocol' must be put, post, multipart_form, content_range, tus, resumable or s3_multipart, "
          + "found 'multipart_forms'", help: "did you mean 'multipart_form'?")),
    BadManifest(
      "a version of the language that is still to come", in: .nothing, "version: 1️⃣2\nname: photos",
      .error(
        "1️⃣", .unknownVersion, "version 2 of the manifest language is not supported",
        help: "write 'version: 1'; this version of ferry supports no other")),
    BadManifest(
      "steps for an upload that the server assigns", in: .upload,
      """
      files: {}
      1️⃣allocate: { request: { url: https://example.com/ } }
      transfer: { protocol: resumable, request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .excludingKeys,
        "'protocol: resumable' excludes 'allocate': the server assigns the upload, and ferry releases it",
        help: "remove 'allocate'")),
    BadManifest(
      "keys that partial uploads exclude", in: .upload,
      """
      files: {}
      transfer:
        protocol: tus
        parallel_parts: 4
        request: { url: https://example.com/ }
        1️⃣capture: { id: { json: /id } }
      2️⃣commit: { request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .excludingKeys,
        "'parallel_parts' excludes 'capture': the last request concatenates the parts",
        help: "remove 'capture', or remove 'parallel_parts'"),
      .error(
        "2️⃣", .excludingKeys,
        "'parallel_parts' excludes 'commit': the last request concatenates the parts",
        help: "remove 'commit', or remove 'parallel_parts'")),
    BadManifest(
      "an interop version that no server has", in: .upload,
      """
      files: {}
      transfer: { protocol: resumable, interop_version: 1️⃣9, request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .wrongType, "'interop_version' must be a whole number from 3 to 8, found the number 9",
        help: "for example 'interop_version: 8'")),
    BadManifest(
      "an unknown cache policy", in: .session, "cache_policy: 1️⃣return_cache_data",
      .error(
        "1️⃣", .unknownWord,
        "'cache_policy' must be use_protocol_cache_policy, reload_ignoring_local_cache, return_cache_data_else_load or return_cache_data_dont_load, found 'return_cache_data'",
        help: "did you mean 'return_cache_data_else_load'?")),
  ]
}
