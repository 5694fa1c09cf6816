extension ManifestReference {
  /// The text before the tables of keys.
  static let introduction = """
    <!-- Generated from the declarations in Sources/FerryManifest/Keys. Do not edit; see ManifestReferenceTests. -->
    # The manifest

    A manifest is a single YAML document in UTF-8, at most 64 MiB in size. Plain scalars have the
    types of YAML 1.2's core schema: `no`, `on` and `yes` are strings; `true`, `null`, `0x1F`, `0o17`, `1.5` and `.inf` are not.
    Unknown and duplicate keys are errors. Anchors, aliases and merge keys (`<<`) are supported. Tags other
    than YAML's own, a second document, more than \(YAMLComposer.deepest) nesting levels and more than \
    \(YAMLComposer.mostNodes) values are errors.
    See [yaml.md](yaml.md) for details.

    `ferry check` reports all errors at once, each with file, line, column and remedy, and exits with 3.

    ## Values

    | value | meaning |
    |---|---|
    | duration | a whole number and a unit: `250ms`, `30s`, `10m`, `6h`, `1d`, `1w` |
    | size | a whole number and a unit: `500B`, `500kB`, `5MB`, `5GB`, `1TB` (powers of 1000), `KiB`, `MiB`, `GiB`, \
    `TiB` (powers of 1024) |
    | name | at most 100 ASCII letters, digits, `_` and `-`; the manifest's name and a session's identifier may also contain `.` |
    | string | any scalar, exactly as written |

    A duration or size without a unit is an error. A number, boolean, duration, size or word may also be a single \
    reference to `vars` or `env`, in quotes if YAML requires them: `max_items: "${vars.items}"`.

    ## References

    `${…}` in a string is replaced by a value. `$${` is replaced by the two characters `${`; any other `$` is a dollar sign.

    | reference | value | where |
    |---|---|---|
    | `${vars.NAME}` | one of the manifest's `vars`, as written in the manifest | everywhere except in `version`, `profile` and `include` |
    | `${env.NAME}`, `${env.NAME:-default}` | an environment variable; the default if it is unset or empty. A default ends at `}` or `\\|` | everywhere except in `version`, `profile` and `include` |
    | `${each.key}`, `${each.value}`, `${each.value.FIELD}` | the name and the value of the current element of a `for_each` | in an upload or fetch with a `for_each` |
    \(familyRows)

    Values that must be known before a run can refer only to `vars`, `env` and `each`: names, paths, globs, \
    durations, sizes and words.

    ### Filters

    A filter changes the value of a reference: `${file.path | url}`. There can be up to \(ReferenceFilter.most), which are \
    applied from left to right: `${file.path | lower | sha256}`. Filters work wherever references work.

    | filter | result | `Bilder/Süß & gut.jpg` |
    |---|---|---|
    \(filterRows)

    Values are bytes, because a file's name need not be UTF-8. `url`, `query`, `base64` and `sha256` work on the bytes; \
    `json` and `lower` need UTF-8. If the value is not UTF-8, the item fails with the code `request`, and the message \
    names the reference and the filter. A filtered value is a string: in `json:`, `"${file.size}"` is a number and \
    `"${file.size | lower}"` a string. A filtered secret is still a secret.

    Some positions encode a value automatically:

    | position | value without filters | value with filters |
    |---|---|---|
    | path, query or fragment of a URL | percent-encoded; in a path, `/` remains only in `${file.path}` | the result is \
    encoded in the same way, unless `url` or `query` has encoded it; in that case, it is used unchanged. After `lower`, \
    `${file.path}` keeps its `/` |
    | beginning of a URL | used as a URL | the result is used as a URL |
    | host of a URL | unchanged; it must be valid in a host name | the result unchanged; it must be valid in a host name |
    | `form` | the whole string is encoded, including its literal parts | the filters are applied, then the whole string is encoded |
    | `json` | the whole string is escaped; bytes that are not UTF-8 become U+FFFD | the filters are applied, then the whole string is escaped; bytes that are not UTF-8 become U+FFFD |
    | header fields | unchanged, but bytes that are not UTF-8 become U+FFFD | the result unchanged |

    `vars` and `each` are inserted verbatim and are never percent-encoded in a URL, with or without a filter.

    A value therefore needs a filter in a header field and wherever one format is embedded in another:

    ```yaml
    headers:
      Destination: "${vars.api}/photos/${file.path | url}" # WebDAV's MOVE and COPY
      Dropbox-API-Arg: '{"path": "/${file.path | json}"}'
      Upload-Metadata: "filename ${file.path | base64}" # tus
      Authorization: "Basic ${secrets.login | base64}" # user:password
    ```

    ## Sharing values

    **Variables.** A variable in `vars` is either a string or a declaration with a type: `port: { type: integer, default: 8080, description: … }`. A variable \
    without a default is required: set it with `--var port=8080` or in a variables file (`--vars-file prod.yaml`, a mapping of \
    names to scalars, which are used as written). `--var` overrides files, a later file overrides an earlier one, and all of \
    them override the default. A `json:` value that consists of one variable of type `boolean`, `integer` or `number` keeps that \
    type. `ferry check` lists the external inputs of a manifest.

    **Anchors.** `&name` marks a value, `*name` repeats it, and `<<: *name` inserts the keys of a mapping; the \
    mapping's own keys override them. An error in such a value is reported at its definition, with a note for each use (at most three).

    **Defaults.** `defaults` holds default values for sections (`sessions`, `tokens`, `uploads`, `fetches`, `requests`), \
    for every `request` and for every `retry`. The node's own value takes precedence, followed by the default of its \
    section, then by the default in `request` or `retry`.

    **Includes.** `include: [common.yaml]` merges the sections of several files. Nothing is overridden: if two files \
    define the same name, ferry reports an error with both locations.

    **Expansion.** An upload or fetch with `for_each: [eu, us]` becomes `photos[eu]` and `photos[us]`. `needs: \
    [photos]` and `--only photos` select both, and `"photos[eu]"` selects one.

    `ferry plan --effective` shows the result: the manifest with all defaults, and the origin of each value.

    """

  private static var filterRows: String {
    let example = Array("Bilder/Süß & gut.jpg".utf8)
    return ReferenceFilter.allCases.map { filter in
      let meaning =
        switch filter {
        case .url:
          "percent-encoded for a path (RFC 3986, section 2.1): all bytes except ASCII letters, digits, `-._~` and `/`"
        case .query: "percent-encoded for a URI component, including `/`"
        case .base64: "Base64 with padding (RFC 4648, section 4)"
        case .json:
          "escaped for use inside a JSON string (RFC 8259, section 7), without the quotation marks; in ASCII, so that "
            + "it can be used in a header field"
        case .lower: "converted to lowercase by Unicode's mapping, regardless of the locale"
        case .sha256: "the SHA-256 of the bytes, in lower-case hexadecimal"
        }
      // The example is UTF-8, which every filter accepts.
      let result = (try? filter.apply(to: example)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return "| `\(filter.rawValue)` | \(meaning) | `\(result)` |"
    }
    .joined(separator: "\n")
  }

  private static var familyRows: String {
    let places: [(place: Place, name: String)] = [
      (.session, "session headers"), (.token(""), "a token's request"), (.apply(""), "`apply`"),
      (.upload("", .allocate), "`allocate`"), (.upload("", .transfer), "`transfer`"),
      (.upload("", .commit), "`commit`"), (.download("", nil), "download batches"), (.fetch(""), "fetches"),
      (.request(""), "requests"),
      (.onEnd(""), "`on_end`"),
    ]
    return Reference.Family.allCases.map { family in
      let meaning =
        switch family {
        case .secrets: ("`${secrets.NAME}`", "a secret, read when a run starts")
        case .file:
          (
            "`${file.FIELD}`",
            "a property of the item's file: "
              + Reference.FileField.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
              + "; `path` is relative to `root`"
          )
        case .item:
          (
            "`${item.NAME}`",
            "a member of the item's element in the list of a download batch; `NAME.NAME` is a member of a member"
          )
        case .token: ("`${token.CAPTURE}`", "a capture of the token that the node names")
        case .allocate: ("`${allocate.CAPTURE}`", "a capture of the same item's `allocate` step")
        case .transfer: ("`${transfer.CAPTURE}`", "a capture of the same item's `transfer` step")
        case .requests: ("`${requests.NAME.CAPTURE}`", "a capture of a single request that completes earlier")
        case .run:
          (
            "`${run.FIELD}`",
            "a property of the run: "
              + Reference.RunField.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
          )
        }
      let names = places.filter { $0.place.families.contains(family) }.map(\.name)
      return "| \(meaning.0) | \(meaning.1) | \(names.joined(separator: ", ")) |"
    }
    .joined(separator: "\n")
  }
}
