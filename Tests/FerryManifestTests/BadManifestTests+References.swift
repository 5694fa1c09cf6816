extension BadManifest {
  /// F0404 to F0411: the valid forms and positions of `${…}`.
  static let references: [BadManifest] = [
    BadManifest(
      "a misspelt secret", in: .nothing,
      """
      version: 1
      name: photos
      secrets: { client_key: { env: KEY } }
      sessions: { quick: { headers: { X-Key: "1️⃣${secrets.client_kye}" } } }
      """,
      .error(
        "1️⃣", .unknownSecret, "unknown secret 'client_kye'", help: "did you mean 'client_key'?")),
    BadManifest(
      "a file in a request of on_end", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { quick: {} }
      on_end: { notify: { session: quick, request: { url: "http://h/1️⃣${file.name}" } } }
      """,
      .error(
        "1️⃣", .referenceOutOfPlace, "'${file.name}' has no value in a request of 'on_end'",
        help: "references allowed here: vars.…, env.…, secrets.…, token.… or run.…")),
    BadManifest(
      "a token that a request of on_end does not name", in: .nothing,
      """
      version: 1
      name: photos
      sessions: { quick: {} }
      on_end: { notify: { session: quick, request: { url: "http://h/1️⃣${token.access}" } } }
      """,
      .error(
        "1️⃣", .nodeWithoutToken, "'notify' does not name a token, so '${token.…}' has no value",
        help: "add 'token: NAME' to 'notify'")),
    BadManifest(
      "a misspelt filter", in: .http, "headers: { X: \"a ${run.id}1️⃣${run.id | base46}\" }",
      .error("1️⃣", .invalidFilter, "there is no filter 'base46'", help: "did you mean 'base64'?")),
    BadManifest(
      "a filter that does not exist, after one that does", in: .http,
      "json: [a, \"1️⃣${run.id | lower | trim}\"]",
      .error(
        "1️⃣", .invalidFilter, "there is no filter 'trim'",
        help: "the filters are url, query, base64, json, lower or sha256")),
    BadManifest(
      "a filter that is missing", in: .http, "form: { a: \"1️⃣${run.id | }\" }",
      .error(
        "1️⃣", .invalidFilter, "a filter is missing after '|' in '${…}'",
        help: "the filters are url, query, base64, json, lower or sha256")),
    BadManifest(
      "a default with a character that begins a filter", in: .http,
      "headers: { X: \"1️⃣${env.NOPE:-a|b}\" }",
      .error(
        "1️⃣", .invalidFilter, "there is no filter 'b'",
        help: "the filters are url, query, base64, json, lower or sha256; a default ends at '|'")),
    BadManifest(
      "a filter in a text that is known before a run", in: .session, "identifier: \"a1️⃣${vars.no | url}\"",
      .error("1️⃣", .unknownVariable, "unknown variable 'no'", help: "declare it under 'vars:'")),
    BadManifest(
      "a misspelt reference with a filter", in: .http, "json: \"1️⃣${run.idd | url}\"",
      .error("1️⃣", .unknownReference, "unknown reference '${run.idd}'", help: "did you mean '${run.id}'?")),
    BadManifest(
      "more filters than a reference can have", in: .http,
      "json: \"1️⃣${run.id\(String(repeating: " | json", count: 9))}\"",
      .error(
        "1️⃣", .invalidFilter, "a reference has at most 8 filters, found 9", help: "remove some of them")),
    BadManifest(
      "a misspelt secret in a body", in: .http, "json: { key: \"1️⃣${secrets.key}\" }",
      .error("1️⃣", .unknownSecret, "unknown secret 'key'", help: "declare it under 'secrets:'")),
    BadManifest(
      "a reference in a key of a body", in: .http, "json: { 1️⃣\"${vars.name}\": 1 }",
      .error(
        "1️⃣", .referenceOutOfPlace, "a key cannot contain a reference, found '${vars.name}'",
        help: "write a literal name, or '$${' for the characters '${'")),
    BadManifest(
      "a request that is not there", in: .http, "json: { set: \"1️⃣${requests.first.id}\" }",
      .error(
        "1️⃣", .unknownRequest, "unknown request 'first'", help: "declare it under 'requests:'")),
    BadManifest(
      "a fetch, whose response is not captured",
      """
      fetches:
        catalog: { session: quick, request: { url: https://example.com/ }, save_to: a }
      requests:
        notify: { session: quick, request: { url: "https://example.com/1️⃣${requests.catalog.id}" } }
      """,
      .error(
        "1️⃣", .unknownRequest, "unknown request 'catalog'",
        help: "it is a fetch; references can only name single requests")),
    BadManifest(
      "captures that are not there",
      """
      requests:
        first: { session: quick, request: { url: https://example.com/ }, capture: { set_id: { json: /id } } }
        none: { session: quick, request: { url: https://example.com/ } }
        notify:
          session: quick
          request:
            url: https://example.com/
            json: ["1️⃣${requests.first.setid}", "2️⃣${requests.first.size}", "3️⃣${requests.none.id}"]
      """,
      .error(
        "1️⃣", .unknownCapture, "request 'first' does not capture 'setid'", help: "did you mean 'set_id'?"),
      .error(
        "2️⃣", .unknownCapture, "request 'first' does not capture 'size'", help: "use 'set_id'"),
      .error(
        "3️⃣", .unknownCapture, "request 'none' does not capture 'id'",
        help: "add 'capture: { id: { … } }' to request 'none'")),
    BadManifest(
      "a capture of a token that has another",
      """
      tokens:
        login:
          session: quick
          request: { url: https://example.com/ }
          capture: { access_token: { json: /access_token } }
          apply: { header: Authorization, value: "Bearer 1️⃣${token.acces_token}" }
      """,
      .error(
        "1️⃣", .unknownCapture, "token 'login' does not capture 'acces_token'",
        help: "did you mean 'access_token'?")),
    BadManifest(
      "a misspelt variable", "vars: { api: a }\nsecrets: { key: { file: \"1️⃣${vars.apy}/key\" } }",
      .error("1️⃣", .unknownVariable, "unknown variable 'apy'", help: "did you mean 'api'?")),
    BadManifest(
      "a variable without a declaration", "secrets: { key: { file: \"1️⃣${vars.folder}/key\" } }",
      .error("1️⃣", .unknownVariable, "unknown variable 'folder'", help: "declare it under 'vars:'")),
    BadManifest(
      "references as a shell has them",
      """
      vars: { api: a, folder: "1️⃣${HOME}/photos" }
      secrets: { key: { file: "2️⃣${api}/key" } }
      """,
      .error(
        "1️⃣", .unknownReference, "unknown reference '${HOME}'", help: "did you mean '${env.HOME}'?"),
      .error("2️⃣", .unknownReference, "unknown reference '${api}'", help: "did you mean '${vars.api}'?")),
    BadManifest(
      "misspelt first words", "vars: { a: \"1️⃣${evn.HOME}\", b: \"2️⃣${config.home}\" }",
      .error("1️⃣", .unknownReference, "unknown reference '${evn.HOME}'", help: "did you mean '${env.HOME}'?"),
      .error(
        "2️⃣", .unknownReference, "unknown reference '${config.home}'",
        help: """
          a reference begins with vars, env, each, secrets, file, item, token, allocate, transfer, requests or run, \
          followed by a dot
          """)),
    BadManifest(
      "parts that a run and a file have not", in: .upload,
      """
      files: {}
      allocate: { request: { url: https://example.com/, json: ["1️⃣${file.nmae}", "2️⃣${file.md5}"] } }
      transfer: { request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .unknownReference, "unknown reference '${file.nmae}'", help: "did you mean '${file.name}'?"),
      .error(
        "2️⃣", .unknownReference, "unknown reference '${file.md5}'",
        help:
          "use file.name, file.path, file.stem, file.extension, file.size, file.sha256 or file.modified"
      )),
    BadManifest(
      "a file's name where there is no file yet", in: .fetch,
      "request: { url: \"https://example.com/1️⃣${file.name}\" }",
      .error(
        "1️⃣", .referenceOutOfPlace, "'${file.name}' has no value in a fetch",
        help: "references allowed here: vars.…, env.…, secrets.…, token.…, requests.… or run.…")),
    BadManifest(
      "a secret in a path", "secrets: { a: { env: A }, b: { file: \"1️⃣${secrets.a}\" } }",
      .error(
        "1️⃣", .referenceOutOfPlace, "'${secrets.a}' has no value before a run, but 'file' requires one",
        help: "use ${vars.NAME} or ${env.NAME} here")),
    BadManifest(
      "an upload ID in the step that fetches it", in: .upload,
      """
      files: {}
      allocate: { request: { url: "https://example.com/1️⃣${allocate.id}" }, capture: { id: { json: /id } } }
      transfer: { request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .referenceOutOfPlace, "'${allocate.id}' has no value in 'allocate'",
        help: "references allowed here: vars.…, env.…, secrets.…, file.…, token.… or requests.…")),
    BadManifest(
      "references that say too little", in: .http,
      "json: [\"1️⃣${vars}\", \"2️⃣${secrets}\", \"3️⃣${token}\", \"4️⃣${requests.first}\", \"5️⃣${run}\"]",
      .error("1️⃣", .incompleteReference, "'${vars}' does not name a variable", help: "write ${vars.NAME}"),
      .error("2️⃣", .incompleteReference, "'${secrets}' does not name a secret", help: "write ${secrets.NAME}"),
      .error("3️⃣", .incompleteReference, "'${token}' does not name a capture", help: "write ${token.CAPTURE}"),
      .error(
        "4️⃣", .incompleteReference, "'${requests.first}' does not name a capture",
        help: "write ${requests.first.CAPTURE}"),
      .error(
        "5️⃣", .incompleteReference, "'${run}' does not name a property of the run", help: "write ${run.id}")),
    BadManifest(
      "braces that are not closed", "vars: { a: \"at home: 1️⃣${env.HOME\" }",
      .error(
        "1️⃣", .unclosedReference, "'${' is not closed",
        help: "close it with '}', or write '$${' for the characters '${'")),
    BadManifest(
      "a reference on the third line of a block", in: .http,
      """
      json: |
        first
          second
        third: 1️⃣${vars.x}
      """,
      .error("1️⃣", .unknownVariable, "unknown variable 'x'", help: "declare it under 'vars:'")),
    BadManifest(
      "a reference behind escapes and wide letters", in: .http, "json: \"\\u00e9\\t名前 1️⃣${vars.x}\"",
      .error("1️⃣", .unknownVariable, "unknown variable 'x'", help: "declare it under 'vars:'")),
  ]
}
