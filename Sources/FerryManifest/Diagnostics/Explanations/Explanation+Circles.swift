extension Explanation {
  static let cycle = Explanation(
    "Steps that wait for each other",
    """
    A node or token waits for what it names in `needs`, with `token:` and in references. Here this chain \
    leads back to its beginning, so none of its members could ever start. The message names the whole chain, \
    and shows each of its steps. Remove one of the links.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        begin: { session: quick, ◊request: { url: https://example.com/begin } }
        finish: { session: quick, needs: [begin], request: { url: https://example.com/finish } }
      """, wrong: "needs: [finish], ", right: "")

  static let variableCircle = Explanation(
    "Variables that refer to each other in a circle",
    """
    The value of a variable uses another variable, which in the end uses the first, so neither has a value. \
    Give one of them a value that does not use the others.
    """,
    in: """
      version: 1
      name: photos
      vars:
        host: ◊
        api: https://${vars.host}
      """, wrong: "${vars.api}", right: "example.com")

  static let variablesTooDeep = Explanation(
    "Variables nested too deep",
    """
    A variable uses another, and so on for more than \(Variables.deepest) steps. The limit keeps a hostile \
    manifest from exhausting the machine. Write some of the values out.
    """)

  static let variablesTooLarge = Explanation(
    "Variables that expand to too much text",
    """
    Variables that use others several times grow fast: ten that double each other make a thousand copies. \
    All expanded variables together must not exceed 64 MiB. Shorten them, or move long values into a file \
    that is sent or listed.
    """)
}
