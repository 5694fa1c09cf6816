extension BadManifest {
  /// Manifests that exceed a limit. Their texts are generated.
  static let large: [BadManifest] = [
    BadManifest(
      "a hundred and one levels", "vars: \(String(repeating: "[", count: 99))1️⃣[",
      .error(
        "1️⃣", .nestedTooDeep, "lists and mappings are nested deeper than 100 levels",
        help: "a manifest needs far fewer levels; look for unclosed brackets")),
    BadManifest(
      "aliases that stand for a million values",
      """
      vars:
        a: &a [\(repeated("x", 999))]
        b: [\(repeated("*a", 248)), 1️⃣*a, \(repeated("*a", 751))]
      """,
      .error(
        "1️⃣", .tooManyValues, "the manifest has more than 250000 values, counting the values of aliases",
        help: "each use of an alias counts; use fewer aliases, or list files in a `list:` file")),
    BadManifest(
      "a chain of sixty variables",
      "vars:\n"
        + (0..<60).map { "  v\($0): \($0 == 49 ? "1️⃣" : "")${vars.v\($0 + 1)}" }.joined(separator: "\n")
        + "\n  v60: x",
      .error(
        "1️⃣", .variablesTooDeep, "variables are nested more than 50 levels deep",
        help: "replace some of the references with literal values")),
    BadManifest(
      "variables that double and double again",
      "vars:\n  v0: \(String(repeating: "x", count: 64))\n"
        + (1..<24).map { "  v\($0): \($0 == 19 ? "1️⃣" : "")${vars.v\($0 - 1)}${vars.v\($0 - 1)}" }
        .joined(separator: "\n"),
      .error(
        "1️⃣", .variablesTooLarge, "variables expand to more than 64 MiB of text in total",
        help: "variables that repeat other variables grow exponentially; shorten them")),
    BadManifest(
      "a chain of twenty-one files", "include: [1.yaml]",
      .error(
        "1️⃣", .includesTooDeep,
        "includes can be nested at most 20 levels deep, with at most 100 files in total",
        help: "include the files from the manifest itself, or merge some of them"),
      files: Dictionary(
        uniqueKeysWithValues: (1...20).map {
          ("\($0).yaml", "include: [\($0 == 20 ? "1️⃣" : "")\($0 + 1).yaml]")
        })),
  ]

  private static func repeated(_ text: String, _ count: Int) -> String {
    Array(repeating: text, count: count).joined(separator: ", ")
  }
}
