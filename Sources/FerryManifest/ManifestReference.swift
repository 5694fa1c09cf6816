/// The reference page of the manifest, made from the declarations that it is read with.
package enum ManifestReference {
  /// `docs/manifest.md`.
  package static func markdown() -> String {
    var page = introduction
    for object in objects() { page += "\n" + section(object) }
    return page
  }

  /// What the manifest's mappings may hold: the top, then each as it is first mentioned.
  package static func objects() -> [ObjectForm] {
    var known: [ObjectForm] = [ManifestDocument.shape(file: "").form]
    var titles: Set<String> = ["Manifest"]
    var next = 0
    while next < known.count {
      for object in known[next].keys.flatMap(\.form.objects) where titles.insert(object.title).inserted {
        known.append(object)
      }
      next += 1
    }
    return known
  }

  private static func section(_ object: ObjectForm) -> String {
    var text = "## \(object.title)\n\n\(object.doc)\n\n"
    text += "| key | value | default | meaning |\n|---|---|---|---|\n"
    for key in object.keys {
      let example = key.example.map { " Example: `\($0)`." } ?? ""
      let notBuilt = readiness(key).map { " *\($0)*" } ?? ""
      let cells = ["`\(key.name)`", key.form.summary, fallback(key), key.doc + example + notBuilt]
      text += "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n"
    }
    for rule in object.rules { text += "\n\(sentence(rule))\n" }
    return text
  }

  /// The default; of each profile, where they differ.
  static func fallback(_ key: KeyForm) -> String {
    guard case .optional(let defaults) = key.presence, let first = defaults.first else { return "required" }
    func text(_ fallback: KeyForm.Default) -> String {
      switch fallback {
      case .value(let value): "`\(value)`"
      case .words(let words): words
      case .itsKeys: "as its keys"
      }
    }
    guard defaults.contains(where: { $0 != first }) else { return text(first) }
    return zip(Profile.allCases, defaults).map { "\($0.rawValue): \(text($1))" }.joined(separator: "; ")
  }

  /// What a run refuses of it.
  static func readiness(_ key: KeyForm) -> String? {
    func list(_ words: [String]) -> String { words.map { "`\($0)`" }.joined(separator: ", ") }
    switch key.readiness {
    case .notYet: return "Not built yet."
    case .notYetBut(let values): return "Not built yet, but for \(list(values))."
    case .built:
      let words = key.form.wordsNotBuilt
      return words.isEmpty ? nil : "Not built yet: \(list(words))."
    }
  }

  private static func sentence(_ rule: KeyRule) -> String {
    func list(_ names: [String]) -> String { names.map { "`\($0)`" }.alternatives(quoted: false) }
    return switch rule {
    case .atMostOne(let names): "At most one of \(list(names))."
    case .exactlyOne(let names): "Exactly one of \(list(names))."
    case .requires(let name, let other): "`\(name)` only beside `\(other)`."
    }
  }

  private static let introduction = """
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

    A bare number where a unit is needed is refused.

    ## References

    `${…}` in a text stands for a value. `$${` stands for the two characters `${`; any other `$` is a dollar sign.

    | reference | value | where |
    |---|---|---|
    | `${vars.NAME}` | one of the manifest's `vars`, as the author wrote it | everywhere |
    | `${env.NAME}`, `${env.NAME:-default}` | an environment variable; the default where it is unset or empty | everywhere |
    \(familyRows)

    Where no reference but `vars` and `env` is allowed, a key needs its value before a run: names, paths, globs, \
    durations, sizes and words.

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
