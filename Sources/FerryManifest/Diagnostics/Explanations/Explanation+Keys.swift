extension Explanation {
  static let unknownKey = Explanation(
    "A key that the language does not have",
    """
    ferry does not ignore unknown keys: a misspelled key would leave a default in force, and nobody would \
    notice. The help names the most similar key, or else all keys that are allowed here. [The \
    manifest](manifest.md) lists the keys of every mapping.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: { ◊: 30s }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
      """, wrong: "timeout_for_reqest", right: "timeout_for_request")

  static let missingKey = Explanation(
    "A required key is missing",
    """
    The mapping requires the key that is named, because no default would be right for everyone. Add it; the \
    help shows an example.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          ◊request: { url: https://example.com/catalog }
      """, wrong: "", right: "save_to: catalog.json\n    ")

  static let excludingKeys = Explanation(
    "Two keys that exclude each other",
    """
    Both keys set the same thing in different ways, for example which files to take, or where to find a \
    value. With both, it would be unclear which one counts. Keep one of them; the message shows both places.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { list: photos.txt◊ }
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: ", include: [\"*.jpg\"]", right: "")

  static let missingAlternative = Explanation(
    "One of several keys is required",
    """
    The mapping needs exactly one of the keys that are named. A secret, for example, comes either from the \
    environment or from a file. Add the key that fits.
    """,
    in: """
      version: 1
      name: photos
      secrets:
        password: ◊
      """, wrong: "{}", right: "{ env: PHOTOS_PASSWORD }")

  static let keyWithoutOther = Explanation(
    "A key that has no effect without another key",
    """
    The key refines another key that is missing, so it would have no effect. Add the other key, or remove \
    this one.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { ◊null: true }
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "", right: "list: photos.txt, ")

  static let transferBody = Explanation(
    "A transfer with its own body",
    """
    The body of a `transfer` request is the file itself, so `json` and `form` are not allowed. Put what the \
    server should know about the file into the URL, into headers, or into the `allocate` or `commit` step.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer:
            request:
              url: https://example.com/files/${file.path}
              ◊
      """, wrong: "json: { modified: \"${file.modified}\" }",
    right: "headers: { X-Modified: \"${file.modified}\" }")

  static let unknownVersion = Explanation(
    "A version of the language that ferry cannot read",
    """
    `version` is the version of the manifest language, not of your manifest or of ferry. This version of \
    ferry reads version \(ManifestDocument.version). Write that, or use the newer ferry that the manifest \
    was written for.
    """,
    in: "version: ◊\nname: photos", wrong: "2", right: "1")
}
