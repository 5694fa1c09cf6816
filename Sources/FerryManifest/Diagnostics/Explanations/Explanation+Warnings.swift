extension Explanation {
  static let unusedSession = Explanation(
    "A session that nobody uses",
    """
    The session is declared, and no token, upload, fetch, request or step names it. Nothing is wrong with \
    that, but its limits and headers take effect nowhere: perhaps a node names another session by mistake. \
    Remove the session, or name it where it was meant.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: {}
        slow: { timeout_for_request: 10m }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: ◊, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "quick", right: "slow")

  static let uploadIDWithoutLife = Explanation(
    "Upload IDs that may expire while they wait",
    """
    The session is `discretionary`: its transfers may wait hours for a network, power or budget. The \
    `allocate` step does not say how long an upload ID lives, so one may have expired when its file is at \
    last sent, and the server refuses it. Say `valid_for`: then an ID that is too old is allocated anew.
    """,
    in: """
      version: 1
      name: photos
      sessions: { nightly: { kind: background, discretionary: true } }
      uploads:
        photos:
          session: nightly
          files: { root: Pictures }
          allocate:
            request: { url: https://example.com/uploads }
            capture: { id: { json: /id } }◊
          transfer: { request: { url: "https://example.com/uploads/${allocate.id}" } }
      """, wrong: "", right: "\n      valid_for: 1h")

  static let fileOutlivesUploadID = Explanation(
    "A file that outlives its upload ID",
    """
    At the rate that the last runs saw, sending this file takes longer than `valid_for` says an upload ID \
    lives: the ID would expire before the last byte. Only `ferry plan` and `ferry run` can know, because \
    they see the files and the journal. Ask the server for IDs that live longer, split the file, or give the \
    session fewer connections, so that each is faster.
    """)

  static let globMatchesNothing = Explanation(
    "A pattern that matches no file",
    """
    A pattern of `files.include` matches no file under `root`. Only `ferry plan` and `ferry run` look at the \
    disk. It may be right, where files are still to come; else mind the spelling and the case of letters, \
    and that `*` stops at a slash while `**` does not.
    """)

  static let plainSecret = Explanation(
    "A secret written in the manifest",
    """
    A password, key or token stands in the manifest in plain. Manifests are kept in repositories, copied and \
    shown, and ferry cannot mask in logs and reports what it does not know to be secret. Declare it under \
    `secrets`, from the environment or a file, and refer to it. A secret that was once committed should be \
    replaced.
    """,
    in: """
      version: 1
      name: photos
      secrets: { key: { env: PHOTOS_KEY } }
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, headers: { Authorization: "Bearer ◊" } }
      """, wrong: "k5dXq0mZ7sT2vB9aLr4c", right: "${secrets.key}")

  static let tokenWithoutTLS = Explanation(
    "A token sent without TLS",
    """
    The URL begins with `http://`, its host is not this machine, and the request carries a token: everyone \
    on the way can read it and use it. Use `https://`. Plain HTTP to a loopback address is fine.
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
        notify: { session: quick, token: login, request: { url: ◊://example.com/done } }
      """, wrong: "http", right: "https")

  static let sharedSaveTo = Explanation(
    "Two fetches that save to one file",
    """
    Both fetches replace the same file, and the one that ends last wins; which one that is may change from \
    run to run. Each also believes that the file is its own when it asks the server whether something is \
    new. Give each a file of its own.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: quick, request: { url: https://example.com/archive }, save_to: ◊ }
      """, wrong: "catalog.json", right: "archive.json")

  static let idlePriority = Explanation(
    "A priority that changes nothing",
    """
    A priority decides which of several waiting transfers of a session goes first. This session has one \
    connection and one batch, so nothing ever waits beside it. Remove the priority, or share the session \
    with the batch that should come later.
    """,
    in: """
      version: 1
      name: photos
      sessions: { single: { max_connections_per_host: 1 } }
      uploads:
        photos:
          session: single
          ◊files: { root: Pictures }
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "priority: high\n    ", right: "")

  static let idleComparison = Explanation(
    "A comparison that is never made",
    """
    `compare: content` says how it is told that a delivered file has changed. Only `deliver: when_changed` asks: \
    with `once` a delivered file is never sent again, and with `every_run` it is sent again whatever it holds. \
    Remove one of the two keys.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          ◊compare: content
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "deliver: once\n    ", right: "")

  static let notBuilt = Explanation(
    "A part of the language that is not built yet",
    """
    The key or word belongs to the language and is read and checked like any other, but this ferry cannot do yet \
    what it says. So `ferry check` warns, and `ferry run` refuses the manifest rather than ignore a part of it: a \
    file that is sent in another way than you asked for is worse than one that is not sent. Remove it, or wait for the version that has it.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer: { ◊request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "protocol: tus, ", right: "")

  static let takenFiles = Explanation(
    "Files that one upload takes away from another",
    """
    Two uploads take files of one folder, or of a folder in the other's, and `after` of one of them deletes or \
    moves what it has delivered. Nothing makes it wait for the other, so files may be gone before that one has \
    sent them, and fail there with `source_missing`. Let the upload that deletes or moves need the other, or \
    give each files of its own: another folder, or patterns with other endings.
    """,
    in: """
      version: 1
      name: photos
      sessions: { uploads: {} }
      uploads:
        archive:
          session: uploads
          files: { root: Pictures }
          transfer: { request: { url: "https://archive.example.com/${file.path}" } }
        photos:
          session: uploads
          ◊files: { root: Pictures }
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
          after: delete
      """, wrong: "", right: "needs: [archive]\n    ")
}
