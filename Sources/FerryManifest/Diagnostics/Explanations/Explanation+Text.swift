extension Explanation {
  static let manifestTooLarge = Explanation(
    "The manifest is larger than 64 MiB",
    """
    A manifest describes work; it is read whole, so its size is bounded. One that is so large nearly always has \
    the names of files written out. Name the files by globs in `files.include`, or put them into a file of their \
    own, one path a line, that `files.list` names: such a list may be of any length.
    """)

  static let invalidUTF8 = Explanation(
    "The text is not UTF-8",
    """
    YAML is Unicode, and ferry reads it as UTF-8, with or without a byte order mark. The place is the first byte \
    that fits no letter, often an umlaut in a file that was saved as Latin-1 or Windows-1252. Save the file as \
    UTF-8, for example with `iconv -f latin1 -t utf8`. A file's name that is not UTF-8 cannot stand in a \
    manifest; a glob or a `files.list` finds it.
    """)

  static let forbiddenCharacter = Explanation(
    "A control character that YAML forbids",
    """
    YAML allows tab and line ends, and no other control character: NUL, escape and the like cannot stand in the \
    text, not even in quotes or comments. They come from copying out of a terminal, or from a file that is no \
    text. Remove the character; where a value needs it, write it as an escape in double quotes, such as `"\\e"`.
    """)

  static let emptyManifest = Explanation(
    "The manifest is empty",
    """
    There is no document in the file: it is empty, or has nothing but comments. It may be the wrong file, or one \
    that was never written. The smallest manifest has a `version` and a `name`.
    """,
    in: "# My photos, every night.◊", wrong: "", right: "\nversion: 1\nname: photos")

  static let secondDocument = Explanation(
    "A second YAML document",
    """
    A line `---` begins another document, and a manifest is one document: it would not be clear to which of them \
    a name or a run belongs. Put the other document into a file of its own; `ferry check` takes several files. A \
    `---` at the very beginning is fine.
    """,
    in: "version: 1\nname: photos◊", wrong: "\n---\nversion: 1\nname: videos", right: "")

  static let syntax = Explanation(
    "The text is not YAML",
    """
    The YAML parser could not go on here, so nothing behind this place was looked at. Mostly the indentation is \
    uneven, a bracket or quote is not closed, or a value has `: ` or ` #` in it and no quotes. The mistake may \
    stand a line above the place that is shown.
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
    "A tab where YAML wants spaces",
    """
    YAML indents with spaces alone, because a tab has no width that all agree on. Replace the tab with spaces, \
    and let your editor write spaces in YAML files (`.editorconfig`: `indent_style = space`).
    """,
    in: "version: 1\nname: photos\nvars:\n◊folder: Pictures", wrong: "\t", right: "  ")

  static let unquotedReference = Explanation(
    "A reference inside { } or [ ] without quotes",
    """
    Inside a mapping or list that is written in brackets, the `{` of `${…}` begins another mapping, and the text \
    breaks apart. Put the whole value in double quotes. In a value on a line of its own no quotes are needed.
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
    "Lists and mappings nested too deep",
    """
    There are more than \(YAMLComposer.deepest) levels of lists and mappings. No manifest needs a tenth of that; \
    the bound keeps a hostile text from using up the machine. Look for brackets that are opened and never closed, \
    or for a program that wrote the file and went astray.
    """)

  static let tooManyValues = Explanation(
    "Too many values, counting what aliases stand for",
    """
    An alias (`*name`) stands for a whole value, and aliases of aliases grow without end: a few lines can mean \
    millions of values. More than \(YAMLComposer.mostNodes) are refused. Use fewer aliases, or, where the values \
    are names of files, name them in a `files.list` file.
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
    `*name` repeats a value that was marked with `&name` before it; here no such mark stands above, or the alias \
    stands inside its own value. Mark the value first, mind the spelling, or write the value out. A text that \
    begins with an asterisk, such as a glob, needs quotes.
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
    "A key that is there twice",
    """
    One mapping has the same key two times. YAML forbids it, and readers that allow it keep one of the values and \
    drop the other without a word. Remove one of them, or rename it where two things were meant. Both places are \
    shown.
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
    "A key that is no text",
    """
    Every key of a manifest is a word or a name. A number, `true`, a list or nothing at all before the `:` is \
    refused, since it would be written back differently from what stands there (`010`, `1.0`). Put the key in \
    quotes.
    """,
    in: """
      version: 1
      name: photos
      vars: { ◊: Pictures/2024 }
      """, wrong: "2024", right: "\"2024\"")

  static let unknownTag = Explanation(
    "A YAML tag that ferry does not know",
    """
    A word that begins with `!` before a value tells its type. ferry knows YAML's own (`!!str`, `!!int`, \
    `!!float`, `!!bool`, `!!null`, `!!seq`, `!!map`); those of other programs, such as CloudFormation's `!Ref`, \
    mean nothing to it. Remove the tag. A text that begins with an exclamation mark needs quotes.
    """,
    in: "version: 1\nname: ◊", wrong: "!project photos", right: "photos")

  static let tagMismatch = Explanation(
    "A value that does not fit its YAML tag",
    """
    The tag says that the value is a number, a truth value or null, and the text behind it is none. Each key \
    knows what it takes, so a tag is hardly ever needed: remove it, or mend the value.
    """,
    in: "version: 1\nname: ◊photos", wrong: "!!int ", right: "")

  static let mergeOfNoMapping = Explanation(
    "A merge key whose value is no mapping",
    """
    `<<:` takes the keys of another mapping in, so its value must be an alias of a mapping, or a list of such \
    aliases. Here it is something else, and there are no keys to take. Give it the alias of a mapping; a text \
    with the name of an anchor needs the asterisk before it.
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
