extension ManifestReference {
  /// What stands before the tables of keys.
  static let introduction = """
    <!-- Made from the declarations in Sources/FerryManifest/Keys. Do not edit; see ManifestReferenceTests. -->
    # The manifest

    A manifest is one YAML document, in UTF-8, of at most 64 MiB. Plain scalars mean what the core schema of
    YAML 1.2 says: `no`, `on` and `yes` are strings, `true`, `null`, `0x1F`, `0o17`, `1.5` and `.inf` are not.
    Unknown keys and keys that are there twice are errors. Anchors, aliases and merge keys (`<<`) work; tags other
    than YAML's own, a second document, more than \(YAMLComposer.deepest) levels and more than \
    \(YAMLComposer.mostNodes) values are errors.
    [yaml.md](yaml.md) tells more.

    Every mistake is told at once, with its file, line, column and remedy, and `ferry check` ends with 3.

    ## Values

    | value | meaning |
    |---|---|
    | duration | a whole number and a unit: `250ms`, `30s`, `10m`, `6h`, `1d`, `1w` |
    | size | a whole number and a unit: `500B`, `500kB`, `5MB`, `5GB`, `1TB` (powers of 1000), `KiB`, `MiB`, `GiB`, \
    `TiB` (powers of 1024) |
    | name | ASCII letters, digits, `_` and `-`, at most 100; the manifest's name and a session's identifier also `.` |
    | text | any scalar, as it is written |

    A bare number where a unit is needed is refused. Numbers, booleans, durations, sizes and words may also be one \
    reference to `vars` or `env`, in quotes where YAML wants them: `max_items: "${vars.items}"`.

    ## References

    `${…}` in a text stands for a value. `$${` stands for the two characters `${`; any other `$` is a dollar sign.

    | reference | value | where |
    |---|---|---|
    | `${vars.NAME}` | one of the manifest's `vars`, as the author wrote it | everywhere but in `version`, `profile` and `include` |
    | `${env.NAME}`, `${env.NAME:-default}` | an environment variable; the default where it is unset or empty | likewise |
    | `${each.key}`, `${each.value}`, `${each.value.FIELD}` | the name and the value of this one of a `for_each` | in an upload or fetch with a `for_each` |
    \(familyRows)

    Where no reference but `vars`, `env` and `each` is allowed, a key needs its value before a run: names, paths, \
    globs, durations, sizes and words.

    ## What is said once

    **Variables.** `vars` are texts, or say what they are: `port: { type: integer, default: 8080, description: … }`. One \
    without a default is required: `--var port=8080`, or a file of variables (`--vars-file prod.yaml`, a mapping of \
    names to scalars, taken as they are written). `--var` wins over files, a later file over an earlier one, all of \
    them over the default. A `json:` leaf that is one variable of the type `boolean`, `integer` or `number` keeps that \
    type. `ferry check` lists what a manifest needs from outside.

    **Anchors.** `&name` marks a value, `*name` repeats it, `<<: *name` brings in a mapping's keys, over which the \
    mapping's own win. A mistake in such a value is told where it is written, with a note at each use.

    **Defaults.** `defaults` holds common values of sections (`sessions`, `tokens`, `uploads`, `fetches`, `requests`), \
    of every `request` and of every `retry`. The nearest wins: a node's own value, then its section's default, then \
    `request` or `retry`.

    **Includes.** `include: [common.yaml]` unites sections of several files. Nothing overrides anything: what two files \
    define is an error that names both places.

    **Many of one.** An upload or fetch with `for_each: [eu, us]` becomes `photos[eu]` and `photos[us]`. `needs: \
    [photos]` and `--only photos` mean all of them, `"photos[eu]"` one.

    `ferry plan --effective` shows what comes of all this: the manifest with every default written out, and where each \
    value came from.

    """

  private static var familyRows: String {
    let places: [(place: Place, name: String)] = [
      (.session, "session headers"), (.token(""), "a token's request"), (.apply(""), "`apply`"),
      (.upload("", .allocate), "`allocate`"), (.upload("", .transfer), "`transfer`"),
      (.upload("", .commit), "`commit`"), (.fetch(""), "fetches"), (.request(""), "requests"),
    ]
    return Reference.Family.allCases.map { family in
      let meaning =
        switch family {
        case .secrets: ("`${secrets.NAME}`", "a secret, found when a run starts")
        case .file:
          (
            "`${file.FIELD}`",
            "of the item's file: "
              + Reference.FileField.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
              + "; `path` is relative to `root`"
          )
        case .token: ("`${token.CAPTURE}`", "a capture of the token that the node names")
        case .allocate: ("`${allocate.CAPTURE}`", "a capture of the same item's `allocate` step")
        case .transfer: ("`${transfer.CAPTURE}`", "a capture of the same item's `transfer` step")
        case .requests: ("`${requests.NAME.CAPTURE}`", "a capture of a single request, which comes before")
        case .run:
          (
            "`${run.FIELD}`",
            "of the run: " + Reference.RunField.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
          )
        }
      let names = places.filter { $0.place.families.contains(family) }.map(\.name)
      return "| \(meaning.0) | \(meaning.1) | \(names.joined(separator: ", ")) |"
    }
    .joined(separator: "\n")
  }
}
