extension Explanation {
  static let unknownSession = Explanation(
    "No session has this name",
    """
    A node, step or token names a session that is not declared in `sessions`. Declare it there, or correct the \
    spelling. If there is a similar name, the help suggests it.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: ◊, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "quik", right: "quick")

  static let unknownToken = Explanation(
    "No token has this name",
    """
    A node names a token that is not declared in `tokens`. Declare it there, or correct \
    the spelling. If a node needs no token, omit the key; `token: none` is only for the steps of an \
    upload.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      tokens:
        login:
          session: quick
          request: { url: https://example.com/token }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      fetches:
        catalog: { session: quick, token: ◊, request: { url: https://example.com/catalog }, save_to: catalog.json }
      """, wrong: "logn", right: "login")

  static let unknownNode = Explanation(
    "No node has this name",
    """
    `needs` lists uploads, fetches and requests that must complete first, but no node has this name. Sessions and \
    tokens do not belong in `needs`: a token is fetched when a request needs it. Declare the node, or \
    correct the spelling.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      requests:
        notify: { session: quick, needs: [◊], request: { url: https://example.com/done } }
      """, wrong: "katalog", right: "catalog")

  static let unknownSecret = Explanation(
    "No secret has this name",
    """
    `${secrets.NAME}` refers to a secret in `secrets`, which declares the source of its value. \
    No secret with this name is declared there. Declare it, or correct the spelling.
    """,
    in: """
      version: 1
      name: photos
      secrets: { password: { env: PHOTOS_PASSWORD } }
      sessions: { quick: {} }
      requests:
        notify: { session: quick, request: { url: https://example.com/done, form: { password: "${secrets.◊}" } } }
      """, wrong: "pasword", right: "password")

  static let unknownRequest = Explanation(
    "No single request has this name",
    """
    `${requests.NAME.CAPTURE}` refers to a value captured by a single request, but no request with \
    this name is declared in `requests`. Uploads and fetches do not capture values for other nodes. Declare the request, \
    or correct the spelling.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        begin: { session: quick, request: { url: https://example.com/sets }, capture: { id: { json: /id } } }
        finish: { session: quick, request: { url: "https://example.com/sets/${requests.◊.id}" } }
      """, wrong: "start", right: "begin")

  static let unknownCapture = Explanation(
    "The step does not capture a value with this name",
    """
    The token, step or request in the reference exists, but its `capture` does not contain this name. Add the \
    name to that `capture`, with the source of the value in the response, or correct the \
    spelling.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        begin: { session: quick, request: { url: https://example.com/sets }, capture: { set_id: { json: /id } } }
        finish: { session: quick, request: { url: "https://example.com/sets/${requests.begin.◊}" } }
      """, wrong: "id", right: "set_id")

  static let unknownVariable = Explanation(
    "No variable has this name",
    """
    `${vars.NAME}` refers to a variable in `vars`, but no variable with this name is declared there. `--var` \
    sets the value of a declared variable; it does not declare one. Declare it under `vars`, or correct the \
    spelling. An environment variable is written `${env.NAME}`.
    """,
    in: """
      version: 1
      name: photos
      vars: { api: https://example.com }
      sessions: { quick: {} }
      requests:
        notify: { session: quick, request: { url: "${vars.◊}/done" } }
      """, wrong: "apy", right: "api")

  static let unknownReference = Explanation(
    "A reference to something unknown",
    """
    A reference begins with `vars`, `env`, `each`, `secrets`, `file`, `token`, `allocate`, `transfer`, `requests` or \
    `run`, followed by a dot. Here, either the first word is not one of these, or the file or run does not have this \
    property. To write the two characters `${` literally, write `$${`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer: { request: { url: "https://example.com/files/${◊}" } }
      """, wrong: "file.sha1", right: "file.sha256")

  static let referenceOutOfPlace = Explanation(
    "A reference to a value that is not available here",
    """
    Each value becomes available at a certain time: names, paths and durations must be known before a run, \
    `${file.…}` is available in the steps of an upload, `${allocate.…}` only after `allocate`, and \
    `${run.…}` in fetches and requests. A table in [the manifest](manifest.md#references) lists all of them. Use one of the \
    references that the message names, or move the value to a later step.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          allocate:
            request: { url: "https://example.com/uploads", json: { name: "${◊}" } }
            capture: { id: { json: /id } }
          transfer: { request: { url: "https://example.com/uploads/${allocate.id}" } }
      """, wrong: "allocate.id", right: "file.name")

  static let incompleteReference = Explanation(
    "An incomplete reference",
    """
    The reference consists of only its first word; the variable, the secret, or the request and its \
    capture is missing. Write it in full, as in `${vars.NAME}` or `${requests.NAME.CAPTURE}`.
    """,
    in: """
      version: 1
      name: photos
      vars: { api: https://example.com }
      sessions: { quick: {} }
      requests:
        notify: { session: quick, request: { url: "${vars◊}/done" } }
      """, wrong: "", right: ".api")

  static let unclosedReference = Explanation(
    "A reference that is not closed",
    """
    `${` begins a reference, but the text does not contain a `}` after it. Add one. To write the two characters \
    literally, as in a shell command or another template language, write `$${`.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.HOME:-/srv◊/Pictures" }
      """, wrong: "", right: "}")

  static let nodeWithoutToken = Explanation(
    "A token's capture in a node without a token",
    """
    `${token.CAPTURE}` refers to a capture of the token that the same node names in `token`, but this \
    node does not name a token. Add `token` to it. Its `apply` is then also applied to the node's requests.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      tokens:
        login:
          session: quick
          request: { url: https://example.com/token }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      requests:
        notify:
          session: quick
          ◊request: { url: https://example.com/done, form: { token: "${token.access}" } }
      """, wrong: "", right: "token: login\n    ")

  static let missingStep = Explanation(
    "A reference to a step that the upload does not have",
    """
    `${allocate.…}` and `${transfer.…}` refer to captures of the steps of the same upload, but this upload \
    does not have that step. Add the step with the capture, or remove the reference. `protocol: content_range` needs \
    `allocate` too, because it sends the file to a session that another request has created.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          ◊transfer: { request: { url: "https://example.com/uploads/${allocate.id}" } }
      """, wrong: "",
    right: "allocate: { request: { url: https://example.com/uploads }, capture: { id: { json: /id } } }\n    "
  )

  static let environmentNotSet = Explanation(
    "An environment variable that is not set",
    """
    `${env.NAME}` is replaced when the manifest is read, but the variable was not set at that time. cron and \
    CI systems start programs with few environment variables: set it in the crontab or the job, or write a default after \
    `:-`. Declare secrets under `secrets` instead; they are read only when a run starts.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.PHOTO_FOLDER◊}" }
      """, wrong: "", right: ":-Pictures")

  static let invalidEnvironmentName = Explanation(
    "An invalid name of an environment variable",
    """
    The name of an environment variable must not be empty, and must not contain a space or `=`. A default \
    follows after `:-`, as in the shell. Other forms of shell expansion, such as `${NAME%.*}`, are not part \
    of the language.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.◊:-Pictures}" }
      """, wrong: "PHOTO FOLDER", right: "PHOTO_FOLDER")

  static let referenceInDefault = Explanation(
    "A reference inside a default",
    """
    The default of `${env.NAME:-default}` is used literally, up to the next `}`, so a reference in it would \
    not be resolved. Declare a variable whose default is one of the two values, and set the other \
    with `--var`, or write a literal default.
    """,
    in: """
      version: 1
      name: photos
      vars:
        home: /srv/photos
        folder: ${env.PHOTO_FOLDER:-◊}
      """, wrong: "${vars.home}", right: "/srv/photos")

  static let duplicateNode = Explanation(
    "Two nodes with the same name",
    """
    Uploads, fetches and requests share one namespace, because `needs` can name nodes of all three kinds. Two nodes \
    have the same name. Rename one of them; the message shows both locations.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      requests:
        ◊: { session: quick, request: { url: https://example.com/done } }
      """, wrong: "catalog", right: "notify")

  static let duplicateIdentifier = Explanation(
    "Two sessions with the same identifier",
    """
    Each session has its own journal, named after its `identifier`, or `MANIFEST.SESSION` by default. If two \
    sessions shared a journal, each would wait for the other's lock. Choose a different identifier.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: { identifier: com.example.photos }
        long: { identifier: ◊, kind: background }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: long, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "com.example.photos", right: "com.example.photos.long")
}
