extension Explanation {
  static let manifestTooLarge = Explanation(
    "The manifest is larger than 64 MiB",
    """
    ferry reads the whole manifest into memory, so its size is limited. A manifest of this size nearly \
    always lists the names of files. Select the files with globs in `files.include`, or put them into a \
    separate file, one path per line, and name it in `files.list`: such a list can be up to 1 GiB in size.
    """)

  static let invalidUTF8 = Explanation(
    "The text is not UTF-8",
    """
    YAML is Unicode, and ferry reads it as UTF-8, with or without a byte order mark. The diagnostic shows \
    the first invalid byte, often an accented letter in a file that was saved as Latin-1 or \
    Windows-1252. Save the file as UTF-8, for example with `iconv -f latin1 -t utf8`. A manifest cannot \
    contain a file name that is not UTF-8; select such a file with a glob or with `files.list`.
    """)

  static let forbiddenCharacter = Explanation(
    "A control character that YAML forbids",
    """
    The only control characters that YAML allows are tabs and line breaks. Others, such as NUL and escape, must not \
    appear in the text, not even in quotes or comments. They come from copied terminal output, or from a \
    file that is not text. Remove the character. If a value needs it, write it as an escape in double \
    quotes, such as `"\\e"`.
    """)

  static let emptyManifest = Explanation(
    "The manifest is empty",
    """
    The file contains no document: it is empty, or has only comments. It may be the wrong file, or a file that \
    was never written. The smallest manifest has a `version` and a `name`.
    """,
    in: "# My photos, every night.◊", wrong: "", right: "\nversion: 1\nname: photos")

  static let secondDocument = Explanation(
    "A second YAML document",
    """
    A line `---` begins another document, but a manifest must be a single document: otherwise it would be unclear \
    which document a name or a run belongs to. Move the other document to a separate file; `ferry check` \
    accepts several files. A `---` at the very beginning is allowed.
    """,
    in: "version: 1\nname: photos◊", wrong: "\n---\nversion: 1\nname: videos", right: "")

  static let syntax = Explanation(
    "The text is not valid YAML",
    """
    The YAML parser stopped here, and nothing after this position was checked. Common causes are inconsistent \
    indentation, an unclosed bracket or quote, and an unquoted value that contains `: ` or ` #`. \
    The mistake may be on the line above the reported position.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick:
          kind: default
      ◊timeout_for_request: 30s
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
      """, wrong: "   ", right: "    ")

  static let tab = Explanation(
    "A tab where YAML requires spaces",
    """
    YAML allows only spaces for indentation, because the width of a tab is not defined. Replace the tab with \
    spaces, and configure your editor to write spaces in YAML files (`.editorconfig`: `indent_style = \
    space`).
    """,
    in: "version: 1\nname: photos\nvars:\n◊folder: Pictures", wrong: "\t", right: "  ")

  static let unquotedReference = Explanation(
    "A reference inside { } or [ ] without quotes",
    """
    Inside a mapping or list in brackets, the `{` of `${…}` begins another mapping, so YAML does not read \
    the value as one string. Put the whole value in double quotes. A value on its own line needs no quotes.
    """,
    in: """
      version: 1
      name: photos
      vars: { api: https://example.com }
      sessions: { quick: {} }
      requests:
        notify: { session: quick, request: { url: ◊ } }
      """, wrong: "${vars.api}/done", right: "\"${vars.api}/done\"")

  static let nestedTooDeep = Explanation(
    "Lists and mappings nested too deeply",
    """
    There are more than \(YAMLComposer.deepest) levels of lists and mappings, more than ten times as many as \
    any manifest needs. The limit keeps a hostile text from exhausting the machine's resources. Look for unclosed \
    brackets, or for an error in the program that wrote the file.
    """)

  static let tooManyValues = Explanation(
    "Too many values, including those from aliases",
    """
    An alias (`*name`) repeats a whole value, and aliases of aliases multiply: a few lines can expand to \
    millions of values. More than \(YAMLComposer.mostNodes) are rejected. Use fewer aliases. If the values \
    are file names, put them in a list file (`files.list`).
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request:
            url: https://example.com/done
            json:
              a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
              b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
              c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
              d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
              e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
              f: [◊]
      """, wrong: "*e, *e, *e", right: "*a")

  static let unknownAlias = Explanation(
    "An alias without an anchor",
    """
    `*name` repeats a value that was marked with `&name` earlier. Either no earlier value has this anchor, or \
    the alias is inside its own value. Add the anchor before the alias, correct the spelling, or copy the \
    value. A string that begins with an asterisk, such as a glob, needs quotes.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: { headers: &common { User-Agent: photos } }
        slow: { headers: ◊, timeout_for_request: 10m }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: slow, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "*comon", right: "*common")

  static let duplicateKey = Explanation(
    "A duplicate key",
    """
    The same key appears twice in one mapping. YAML forbids this, and parsers that allow it silently drop \
    one of the values. Remove one of them, or rename it if you meant two different things. The message shows \
    both locations.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: {}
        ◊: { kind: background }
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: ◊, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "quick", right: "long")

  static let keyNotString = Explanation(
    "A key that is not a string",
    """
    Every key of a manifest is a string. A number, `true`, a list or an empty key is rejected, because it \
    could change when the manifest is written again (`010`, `1.0`). Put the key in quotes.
    """,
    in: """
      version: 1
      name: photos
      vars: { ◊: Pictures/2024 }
      """, wrong: "2024", right: "\"2024\"")

  static let unknownTag = Explanation(
    "An unsupported YAML tag",
    """
    A tag, which begins with `!`, declares the type of the value after it. ferry supports YAML's own tags \
    (`!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`), but not those of other programs, \
    such as CloudFormation's `!Ref`. Remove the tag. A string that begins with an exclamation mark needs \
    quotes.
    """,
    in: "version: 1\nname: ◊", wrong: "!project photos", right: "photos")

  static let tagMismatch = Explanation(
    "A value that does not match its YAML tag",
    """
    The tag declares a number, a boolean or null, but the value is of a different type. The type of each key is fixed, so tags \
    are rarely needed: remove the tag, or correct the value.
    """,
    in: "version: 1\nname: ◊photos", wrong: "!!int ", right: "")

  static let mergeOfNoMapping = Explanation(
    "A merge key whose value is not a mapping",
    """
    `<<:` adds the keys of another mapping, so its value must be an alias of a mapping, or a list of such \
    aliases. Use the alias of a mapping; in an alias, an asterisk precedes the name of the \
    anchor.
    """,
    in: """
      version: 1
      name: photos
      sessions:
        quick: &quick { timeout_for_request: 30s }
        long:
          <<: ◊
          kind: background
      fetches:
        catalog: { session: quick, request: { url: https://example.com/catalog }, save_to: catalog.json }
        archive: { session: long, request: { url: https://example.com/archive }, save_to: archive.zip }
      """, wrong: "quick", right: "*quick")
}
