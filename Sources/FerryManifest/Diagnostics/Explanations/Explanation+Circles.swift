extension Explanation {
  static let cycle = Explanation(
    "Steps that wait for each other for ever",
    """
    Nodes and tokens wait for what they name in `needs`, with `token:` and in references, and here that \
    leads back to where it began: none of them could ever start. The message names the whole way round, and \
    each step of it is shown. Remove one of the links.
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
    "Variables that use each other in a circle",
    """
    The value of a variable uses another, which in the end uses the first: none of them has a value. Give \
    one of them a value of its own.
    """,
    in: """
      version: 1
      name: photos
      vars:
        host: ◊
        api: https://${vars.host}
      """, wrong: "${vars.api}", right: "example.com")

  static let variablesTooDeep = Explanation(
    "Variables inside variables, too many deep",
    """
    A variable uses another, and so on for more than \(Variables.deepest) steps. Nobody can follow that, and \
    the bound keeps a hostile text from using up the machine. Write some of the values out.
    """)

  static let variablesTooLarge = Explanation(
    "Variables that stand for too much text",
    """
    Variables that use others several times grow fast: ten that double each other make a thousand copies. \
    More than 64 MiB of text in all is refused. Shorten them, or move what is long into a file that is sent \
    or listed.
    """)
}
