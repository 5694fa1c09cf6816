extension Explanation {
  static let unusedSession = Explanation(
    "A session that is not used",
    """
    The session is declared, but no token, upload, fetch, request or step names it. This is not an error, \
    but its limits and headers have no effect: perhaps a node names a different session by mistake. Remove the \
    session, or use it where you meant to.
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
    The session is `discretionary`: its transfers may wait for hours for a network, power or budget. The \
    `allocate` step does not specify how long an upload ID is valid, so the ID may have expired when its \
    file is sent, and the server then rejects it. Add `valid_for`: ferry then allocates a new ID instead of using \
    an expired one.
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
    "An upload that takes longer than its upload ID is valid",
    """
    At the rate of the last runs, sending this file takes longer than `valid_for`: the upload ID would \
    expire before the last byte. Only `ferry plan` and `ferry run` can detect this, because they read the \
    files and the journal. Ask the server for IDs that are valid for longer, split the file, or give the \
    session fewer connections, so that each is faster.
    """)

  static let globMatchesNothing = Explanation(
    "A pattern that matches no file",
    """
    A pattern of `files.include` matches no file under `root`. Only `ferry plan` and `ferry run` access the \
    disk. Ignore the warning if the files do not exist yet. Otherwise check the spelling and capitalization; \
    `*` does not match a slash, but `**` does.
    """)

  static let plainSecret = Explanation(
    "A secret written in the manifest",
    """
    The manifest contains a password, key or token in plain text. Manifests are kept in repositories, copied \
    and displayed. In logs and reports, ferry masks only values that are declared as secrets. Declare it \
    under `secrets`, with the environment or a file as its source, and refer to it. Replace any secret that was ever \
    committed.
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
    The URL begins with `http://`, its host is not this machine, and the request carries a token: anyone \
    on the network path can read and use it. Use `https://`. Plain HTTP to a loopback address is fine.
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
    "Two fetches or downloads that save to the same file",
    """
    Both replace the same file, and the last one to finish wins, which may vary from run to run. A fetch also sends \
    conditional requests based on a file that the other may have replaced. Give each a separate file.
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
    "A priority that has no effect",
    """
    A priority determines which of several waiting transfers of a session goes first. Only one batch uses \
    this session, so there is nothing to order. Remove the priority, or let the batch that \
    should have the lower priority use the same session.
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

  static let idlePolicy = Explanation(
    "A policy that has no effect",
    """
    A budget, condition, execution window or resume delay applies only to some sessions. A budget with \
    `binds: discretionary` and the power source affect only discretionary sessions, a window only default \
    and ephemeral sessions, and a delay only background sessions. No session of this manifest is of that \
    kind, so the key changes nothing. Remove \
    the key, or change the session that it was meant for.
    """,
    in: """
      version: 1
      name: photos
      sessions: { nightly: { kind: background } }
      budgets: { wired: { limit: 5GB, per: day, binds: ◊ } }
      uploads:
        photos:
          session: nightly
          files: { root: Pictures }
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "discretionary", right: "all")

  static let idleRepeatable = Explanation(
    "A 'repeatable' or 'not_executed' that has no effect",
    """
    `repeatable: true` lets a POST or PATCH request be sent again although an earlier attempt may have been executed. \
    Requests with an idempotent method, such as PUT, are always sent again. `retry: { not_executed: […] }` also concerns \
    only requests that must not be repeated, and commits. Remove the key.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        mark: { session: quick, ◊request: { method: PUT, url: https://example.com/mark } }
      """, wrong: "repeatable: true, ", right: "")

  static let idleSignature = Explanation(
    "A 'sign' that has no effect",
    """
    `sign: none` omits the signature of the session for one request. If the session signs no requests, the key \
    has no effect. Remove the key, or use a session that signs its requests.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        mark: { session: quick, ◊request: { method: PUT, url: https://example.com/mark } }
      """, wrong: "sign: none, ", right: "")

  static let idleAuth = Explanation(
    "An 'auth' setting that has no effect",
    """
    `auth: none` omits the credentials of the session for one request; if the session has none, it changes nothing. \
    `preemptive` applies only to Basic credentials, because the other schemes need the server's challenge. Remove the \
    key.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        mark: { session: quick, ◊request: { method: PUT, url: https://example.com/mark } }
      """, wrong: "auth: none, ", right: "")

  static let idleConnectionSetting = Explanation(
    "A connection setting that has no effect",
    """
    `tls` applies only to connections that use TLS: if the session sends no request to an `https://` URL, the key has no \
    effect. `service_type` marks IP packets, and a Unix domain socket (`unix_socket`) has none. `time_zone` of \
    `max_bandwidth` has an effect only if the limit depends on the time of day. Remove the key, or change the setting on \
    which its effect depends.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { ◊timeout_for_request: 30s } }
      requests:
        mark: { session: quick, request: { method: PUT, url: http://127.0.0.1/mark } }
      """, wrong: "tls: { ca_file: ca.pem }, ", right: "")

  static let partSettings = Explanation(
    "A setting for parts that has no effect, or that servers may reject",
    """
    These keys configure protocols that send a file in several requests, and each has an effect only with \
    some of them. `chunk_size` applies to `content_range`, `tus` and `resumable`; `offset_query` to \
    `content_range`; `creation` and `metadata` to `tus`; `checksum` to `tus` and `s3_multipart`; \
    `interop_version` to `resumable`; `part_size` to `s3_multipart`; `threshold` and `parallel_parts` to \
    `s3_multipart` and `tus`; `segments` of a download requires a request that can ask for a range, and as many \
    connections of its session. Three more rules apply to `tus`: `creation`, `metadata`, `parallel_parts` and \
    `threshold` have no effect if the request of `allocate` creates the upload; `threshold` has no effect \
    without `parallel_parts`; and `creation: with_upload` has no effect with `parallel_parts`. Google \
    accepts only multiples of 256 KiB as the size of a part, and Microsoft only multiples of 320 KiB; the \
    last part may have any size. Remove the key, or write such a multiple.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer: { ◊request: { url: "https://example.com/${file.path}" } }
      """, wrong: "chunk_size: 8MiB, ", right: "")

  static let idleComparison = Explanation(
    "A comparison setting without effect",
    """
    `compare: content` sets how ferry detects that a delivered file has changed. Only `deliver: \
    when_changed` needs this: with `once` a delivered file is never sent again, and with `every_run` it is \
    always sent again. Remove one of the two keys.
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

  static let takenFiles = Explanation(
    "An upload that removes the files of another upload",
    """
    Two uploads send files from the same folder or from nested folders, and one of them deletes or moves its \
    delivered files (`after`). That upload does not wait for the other one, so files may disappear before \
    the other one has sent them, and would then fail with `source_missing`. Add the other upload to `needs` \
    of the upload that deletes or moves files, or select different files in each, for example by their \
    folder or extension.
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
