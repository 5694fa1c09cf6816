extension Explanation {
  static let unknownSession = Explanation(
    "No session has this name",
    """
    A node, step or token names a session that `sessions` does not declare. Declare it there, or correct the \
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
    A node names the token for its requests, and `tokens` does not declare it. Declare it there, or correct \
    the spelling. If a node needs no token, leave the key out; `token: none` is only for the steps of an \
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
    `needs` names uploads, fetches and requests that must end first, and none has this name. Sessions and \
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
    `${secrets.NAME}` refers to a secret that `secrets` declares, with the place where its value is found. \
    No secret of this name is declared there. Declare it, or correct the spelling.
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
    `${requests.NAME.CAPTURE}` refers to a value that a single request has captured, and `requests` has no \
    request of this name. Uploads and fetches capture no values for other nodes. Declare the request, or \
    correct the spelling.
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
    "The step captures no value of this name",
    """
    The token, step or request that the reference names exists, but its `capture` has no such name. Add the \
    name to that `capture`, with the place in the response where the value is found, or correct the \
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
    `${vars.NAME}` refers to a variable that `vars` declares, and it declares none of this name. `--var` \
    replaces the value of a variable, and does not declare one. Declare it under `vars`, or correct the \
    spelling. A variable of the environment is written `${env.NAME}`.
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
    A reference begins with `vars`, `env`, `secrets`, `file`, `token`, `allocate`, `transfer`, `requests` or \
    `run`, followed by a dot. Either the first word is none of these, or the file or the run has no such \
    field. To write the two characters `${` literally, write `$${`.
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
    "A reference where it has no value yet",
    """
    Each value is available only from a certain moment: names, paths and durations are fixed before a run, \
    `${file.…}` is available in the steps of an upload, `${allocate.…}` only after `allocate`, and \
    `${run.…}` in fetches and requests. [The manifest](manifest.md#references) has the table. Use one of the \
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
    The reference has a first word, but does not name the variable, the secret, or the request and its \
    capture. Write it in full, as in `${vars.NAME}` or `${requests.NAME.CAPTURE}`.
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
    `${` begins a reference, and no `}` follows in the same text. Add it. To write the two characters \
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
    `${token.CAPTURE}` refers to a capture of the token that the same node names with `token:`, and this \
    node names none. Name the token there. Its `apply` is then also applied to the node's requests.
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
    `${allocate.…}` and `${transfer.…}` refer to captures of the steps of the same upload, and this upload \
    has no such step. Add the step with the capture, or remove the reference.
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
    `${env.NAME}` is replaced when the manifest is read, and the variable is not set at that time. cron and \
    CI systems start programs with few variables: set it in the crontab or the job, or write a default after \
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
    not be resolved. Declare a variable whose value is one of the two references, and give the other value \
    with `--var`, or write the default out.
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
    Uploads, fetches and requests share one namespace, because `needs` looks in all of them. Two of them \
    have the same name. Rename one; the message shows both places.
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
    sessions shared a journal, each would wait for the other's lock. Choose another identifier.
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
