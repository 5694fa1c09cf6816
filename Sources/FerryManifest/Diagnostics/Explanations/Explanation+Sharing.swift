extension Explanation {
  static let unreadableInclude = Explanation(
    "A file of include that cannot be read",
    """
    `include` names files whose sections are taken in, by paths relative to the file that includes them. This one \
    is not there, may not be read, or is a folder. Mind the spelling, and that the path does not start from the \
    folder in which ferry was called.
    """,
    wrong: Example(manifest: including("comon.yaml"), beside: ["common.yaml": sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includeCycle = Explanation(
    "Files that include each other in a circle",
    """
    A file includes another, which in the end includes the first, so reading would never end. The message names \
    the whole way round. Put what they share into a third file that both include.
    """,
    wrong: Example(
      manifest: including("common.yaml"), beside: ["common.yaml": "include: [photos.yaml]\n" + sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includeClash = Explanation(
    "One name in the same section of two files",
    """
    Two files that are read together declare something of the same name in the same section. Neither of them wins \
    quietly: which one would depend on the order of reading. Rename one, or remove it; both places are shown.
    """,
    wrong: Example(
      manifest: including("common.yaml") + "sessions: { quick: { timeout_for_request: 10s } }\n",
      beside: ["common.yaml": sessions]),
    right: Example(manifest: including("common.yaml"), beside: ["common.yaml": sessions]))

  static let includesTooDeep = Explanation(
    "Files that include files, too many deep",
    """
    An included file includes another, and so on for more levels than ferry follows. Nobody can keep such a chain \
    in mind, and the bound keeps a hostile set of files from using up the machine. Include the files side by \
    side, in one list.
    """)

  static let eachOutOfPlace = Explanation(
    "A reference to each outside of a for_each",
    """
    `${each.key}` and `${each.value}` are the element that a node is repeated for, and exist only inside an upload \
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
    "A key of for_each that is there twice",
    """
    Each key of `for_each` makes a node of its own, named `catalog[eu]`, and two nodes cannot have one name. \
    Remove the one that is too much, or give it another key; a map takes the same value under several keys.
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
