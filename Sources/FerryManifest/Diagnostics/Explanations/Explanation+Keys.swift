extension Explanation {
  static let unknownKey = Explanation(
    "An unknown key",
    """
    ferry does not ignore unknown keys: a misspelled key would leave a default in force, and nobody would \
    notice. The help suggests the most similar key, or lists all valid keys. [The \
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
    The mapping requires the named key, because no default would suit every manifest. Add it; the \
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
    "Two mutually exclusive keys",
    """
    Both keys set the same property in different ways, for example the selection of files, or the source of a \
    value. With both, it would be unclear which one applies. Keep one of them; the message shows both locations.
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
    The mapping requires exactly one of the named keys. A secret, for example, comes either from the \
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
    The body of a `transfer` request is the file itself, so `json` and `form` are not allowed. Move \
    information about the file to the URL, to headers, or to the `allocate` or `commit` step. To send the file in a \
    form, add `protocol: multipart_form`, and put `form` next to `request`.
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
    "An unsupported version of the manifest language",
    """
    `version` is the version of the manifest language, not of your manifest or of ferry. This version of \
    ferry reads version \(ManifestDocument.version). Write that version, or use the version of ferry for which the \
    manifest was written.
    """,
    in: "version: ◊\nname: photos", wrong: "2", right: "1")
}
