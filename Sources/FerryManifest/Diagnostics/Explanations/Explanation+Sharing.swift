extension Explanation {
  static let unreadableInclude = Explanation(
    "An included file that cannot be read",
    """
    `include` names files whose sections are added to the manifest, by paths relative to the including file. \
    This file does not exist, is not readable, or is a folder. Check the spelling, and make sure that the path is not \
    relative to the folder in which ferry was started.
    """,
    wrong: Example(manifest: including("comon.yaml"), beside: ["common.yaml": sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includeCycle = Explanation(
    "Files that include each other in a cycle",
    """
    A file includes itself, directly or through other files, so reading would never end. The \
    message shows the whole cycle. Move the shared definitions to another file that the others include.
    """,
    wrong: Example(
      manifest: including("common.yaml"), beside: ["common.yaml": "include: [photos.yaml]\n" + sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includeClash = Explanation(
    "The same name in the same section of two files",
    """
    Two files that are read together declare the same name in the same section. ferry does not choose one of \
    them, because the result would depend on the order in which the files are read. Rename or remove one; the message \
    shows both locations.
    """,
    wrong: Example(
      manifest: including("common.yaml") + "sessions: { quick: { timeout_for_request: 10s } }\n",
      beside: ["common.yaml": sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includesTooDeep = Explanation(
    "Included files nested too deeply",
    """
    Included files are nested more deeply than ferry allows, or there are too many of them. The limits keep a \
    hostile set of files from exhausting the machine's resources. Include the files in one list instead.
    """)

  static let eachOutOfPlace = Explanation(
    "A reference to 'each' outside a 'for_each'",
    """
    `${each.key}` and `${each.value}` refer to the current element of `for_each`, and exist only inside an upload \
    or fetch that has `for_each`. Add `for_each` to the node, or use a variable.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          ◊request: { url: "https://${each.key}.example.com/catalog" }
          save_to: catalog-${each.key}.json
      """, wrong: "", right: "for_each: [eu, us]\n    ")

  static let duplicateEach = Explanation(
    "A duplicate key of for_each",
    """
    Each key of `for_each` creates a separate node, such as `catalog[eu]`, and two nodes cannot have the \
    same name. Remove one of the keys, or rename it. In a mapping, several keys can have the same value.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          for_each: [eu, ◊]
          request: { url: "https://${each.key}.example.com/catalog" }
          save_to: catalog-${each.key}.json
      """, wrong: "eu", right: "us")

  private static func including(_ path: String) -> String {
    """
    version: 1
    name: photos
    include: [\(path)]
    fetches:
      catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }

    """
  }

  private static let sessions = "sessions: { quick: {} }\n"
}
