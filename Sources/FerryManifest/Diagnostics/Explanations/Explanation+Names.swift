extension Explanation {
  static let unknownSession = Explanation(
    "No session has this name",
    """
    A node, step or token names its session, and `sessions` has none of this name. Declare it there, or mind \
    the spelling; the nearest name is given where there is one.
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
    A node names the token that its requests carry, and `tokens` has none of this name. Declare it there, or \
    mind the spelling. A node that needs no token leaves the key out; `token: none` is only for the steps of \
    an upload.
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
    `needs` names the uploads, fetches and requests that come before, and none of them is called so. \
    Sessions and tokens do not belong in `needs`: a token is fetched when it is wanted. Declare the node, or \
    mind the spelling.
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
    `${secrets.NAME}` is a secret that `secrets` declares with the place where it is found. None of this \
    name is declared there. Declare it, or mind the spelling.
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
    `${requests.NAME.CAPTURE}` is a value that a single request has captured, and `requests` has none of \
    this name. Uploads and fetches capture nothing for others. Declare the request, or mind the spelling.
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
    The token, step or request that the reference means is there, but its `capture` has no such name. Add it \
    to the `capture` of that step, with the place in the answer where the value is found, or mind the \
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
    `${vars.NAME}` is one of the texts under `vars`, and there is none of this name. `--var` replaces a \
    variable and declares none. Declare it under `vars`, or mind the spelling; a variable of the environment \
    is `${env.NAME}`.
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
    "A reference that names nothing",
    """
    A reference begins with one of a few words and a dot: `vars`, `env`, `secrets`, `file`, `token`, \
    `allocate`, `transfer`, `requests` or `run`. The first word is none of these, or there is no such field \
    of the file or the run. For the two characters `${` themselves write `$${`.
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
    Each value exists only from some moment on: names, paths and durations are settled before a run, \
    `${file.…}` exists in the steps of an upload, `${allocate.…}` only after `allocate`, and `${run.…}` in \
    fetches and requests. [The manifest](manifest.md#references) has the table. Use what the message names, \
    or move the value to a later step.
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
    "A reference that says too little",
    """
    The reference has its first word and not the rest: which variable, which secret, or which capture of \
    which request. Write it whole, as in `${vars.NAME}` or `${requests.NAME.CAPTURE}`.
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
    `${` begins a reference, and there is no `}` behind it in the same text. Close it. Where the two \
    characters are meant as they are, as in a shell command or another template language, write `$${`.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.HOME:-/srv◊/Pictures" }
      """, wrong: "", right: "}")

  static let nodeWithoutToken = Explanation(
    "A token's capture in a node without a token",
    """
    `${token.CAPTURE}` is a capture of the token that the same node names with `token:`, and this node names \
    none. Name the token there. It then also sets on the node's requests what its `apply` says.
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
    `${allocate.…}` and `${transfer.…}` are captures of the same upload's steps, and this upload does not \
    have the step that is meant. Add the step, with the capture, or remove the reference.
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
    `${env.NAME}` is replaced when the manifest is read, and the variable is not set there. Cron and CI \
    start programs with few variables: set it in the crontab or the job, or give a default behind `:-`. A \
    secret should rather be declared under `secrets`, which is asked for only when a run starts.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.PHOTO_FOLDER◊}" }
      """, wrong: "", right: ":-Pictures")

  static let invalidEnvironmentName = Explanation(
    "A text that names no environment variable",
    """
    The name of an environment variable is not empty and has no space and no `=`. A default stands behind \
    `:-`, as in the shell; other forms of the shell's expansion, such as `${NAME%.*}`, are not part of the \
    language.
    """,
    in: """
      version: 1
      name: photos
      vars: { folder: "${env.◊:-Pictures}" }
      """, wrong: "PHOTO FOLDER", right: "PHOTO_FOLDER")

  static let referenceInDefault = Explanation(
    "A reference inside a default",
    """
    The default of `${env.NAME:-default}` is taken as it stands, up to the next `}`. A reference inside \
    would not be resolved. Declare a variable whose value is the one reference, and give the other case with \
    `--var`, or write the default out.
    """,
    in: """
      version: 1
      name: photos
      vars:
        home: /srv/photos
        folder: ${env.PHOTO_FOLDER:-◊}
      """, wrong: "${vars.home}", right: "/srv/photos")

  static let duplicateNode = Explanation(
    "Two nodes with one name",
    """
    Uploads, fetches and requests share one space of names, because `needs` looks in all of them. Two of \
    them have the same name here. Rename one; both places are shown.
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
    "Two sessions with one identifier",
    """
    A session keeps a journal of its own, which is named for its `identifier`, or `MANIFEST.SESSION` where \
    it has none. With one journal each of the two would wait for the other's lock. Choose another \
    identifier.
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
