extension Explanation {
  static let unknownKey = Explanation(
    "A key that the language does not have",
    """
    ferry does not ignore what it does not know: a misspelt key would otherwise leave a default in force, and \
    nobody would notice. The nearest known key is named where there is one, else all that may stand here. \
    [The manifest](manifest.md) lists the keys of every mapping.
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
    "A key that must be there is not",
    """
    The mapping at this place cannot do without the key that is named: there is no default that would be right \
    for everyone. Add it; the help shows what it looks like.
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
    Each of the two keys answers the same question in its own way, for example which files to take, or where a \
    value is found. With both it would not be clear which one counts. Keep one of them; both places are shown.
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
    "None of several keys, and one is needed",
    """
    The mapping needs exactly one of the keys that are named: a secret, for example, comes either from the \
    environment or from a file. Add the one that fits.
    """,
    in: """
      version: 1
      name: photos
      secrets:
        password: ◊
      """, wrong: "{}", right: "{ env: PHOTOS_PASSWORD }")

  static let keyWithoutOther = Explanation(
    "A key that means something only beside another",
    """
    The key refines another one that is not there, so it would do nothing. Add the other key, or remove this one.
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
    "A transfer with a body of its own",
    """
    The body of a `transfer` request is the file itself, so `json` and `form` have no place there. What the server \
    should know about the file goes into the URL, into headers, or into the `allocate` or `commit` step.
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
    "A version of the language that this ferry does not read",
    """
    `version` is the version of the manifest language, not of your manifest and not of ferry. This ferry reads \
    version \(ManifestDocument.version). Write that, or use the newer ferry that the manifest was written for.
    """,
    in: "version: ◊\nname: photos", wrong: "2", right: "1")
}
