extension Explanation {
  static let cycle = Explanation(
    "Steps that wait for each other",
    """
    A node or token waits for the nodes and tokens that it names in `needs`, in `token` and in references. \
    Here, these dependencies form a cycle, so none of its members could ever start. The message shows the \
    whole cycle and the location of each dependency. Remove one of the dependencies.
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
    "Variables that refer to each other in a cycle",
    """
    The variable refers to itself, directly or through other variables, so it cannot have a value. \
    Give one of these variables a value that does not refer to the others.
    """,
    in: """
      version: 1
      name: photos
      vars:
        host: ◊
        api: https://${vars.host}
      """, wrong: "${vars.api}", right: "example.com")

  static let variablesTooDeep = Explanation(
    "Variables nested too deeply",
    """
    References between variables are nested more than \(Variables.deepest) levels deep. The limit keeps a hostile \
    manifest from exhausting the machine's resources. Replace some of the references with literal values.
    """)

  static let variablesTooLarge = Explanation(
    "Variables that expand to too much text",
    """
    Variables that repeat other variables grow exponentially: ten doublings make a thousand copies. \
    All expanded variables together must not exceed 64 MiB. Shorten them, or move long values to a \
    separate file.
    """)
}
