extension BadManifest {
  /// F0101 to F0110: texts that cannot be read as YAML.
  static let text: [BadManifest] = [
    BadManifest(
      "nothing but a comment", in: .nothing, "1️⃣# to be written\n",
      .error("1️⃣", .emptyManifest, "the manifest is empty", help: "begin with 'version: 1' and 'name: …'")),
    BadManifest(
      "a second document", in: .nothing, "version: 1\nname: photos\n1️⃣---\nversion: 1\n",
      .error(
        "1️⃣", .secondDocument, "a second document begins here",
        help: "a manifest is a single document; move the other one to a separate file")),
    BadManifest(
      "a bell in a name", in: .nothing, "name: pho1️⃣\u{7}tos",
      .error(
        "1️⃣", .forbiddenCharacter, "the control character U+0007 is not allowed in YAML",
        help: "remove it, or write it as an escape in double quotes")),
    BadManifest(
      "a byte order mark of a file that was pasted in", in: .nothing, "version: 1\n1️⃣\u{FEFF}name: photos",
      .error(
        "1️⃣", .forbiddenCharacter, "a byte order mark (U+FEFF) is not allowed inside the text",
        help: "remove it, or write it as an escape in double quotes")),
    BadManifest(
      "a colon in a value without quotes", in: .nothing, "name: photos1️⃣: all",
      .error(
        "1️⃣", .syntax, "a ':' that begins a value is not allowed here",
        help: "quote the value if it contains ': ', or check the indentation")),
    BadManifest(
      "a key that is indented by one space too much", in: .nothing,
      "version: 1\n name1️⃣: photos",
      .error(
        "1️⃣", .syntax, "a ':' that begins a value is not allowed here",
        help: "quote the value if it contains ': ', or check the indentation")),
    BadManifest(
      "a list that is not closed", in: .nothing, "include: 2️⃣[a.yaml\nname1️⃣: photos",
      .error(
        "1️⃣", .syntax, "a ',' or ']' was expected here",
        help: "close the list with ']', or separate its items with ','",
        notes: [("2️⃣", "the list begins here")])),
    BadManifest(
      "quotes that are not closed", in: .nothing, "name: 2️⃣\"photos\nversion: 1\n1️⃣",
      .error(
        "1️⃣", .syntax, "the text ends inside quotes", help: "close the quotes",
        notes: [("2️⃣", "the quotes begin here")])),
    BadManifest(
      "a value that begins with an at sign", in: .nothing, "name: 1️⃣@photos",
      .error("1️⃣", .syntax, "this character cannot start a value", help: "put the value in quotes")),
    BadManifest(
      "a backslash of a regular expression in double quotes", in: .nothing, "name: \"a1️⃣\\d\"",
      .error(
        "1️⃣", .syntax, "this escape sequence is invalid in double quotes",
        help: "use single quotes, or write the backslash twice")),
    BadManifest(
      "a list that begins on the line of its key", in: .nothing, "include: 1️⃣- a.yaml",
      .error("1️⃣", .syntax, "a '-' is not allowed here", help: "start the list on its own line")),
    BadManifest(
      "a line that begins with a percent sign", in: .nothing, "1️⃣%NAME photos\n---\n",
      .error(
        "1️⃣", .syntax, "this directive is unknown",
        help: "remove the line; the only directives are '%YAML' and '%TAG'"
      )),
    BadManifest(
      "an anchor with a colon in its name", "vars:\n  key: &a1️⃣:b photos",
      .error(
        "1️⃣", .syntax, "a ':' is not allowed in the name of an anchor",
        help: "use letters, digits, '-' and '_'; put a space before a value that begins with ':'")),
    BadManifest(
      "a word that begins with a question mark", "include: [1️⃣?photos]",
      .error(
        "1️⃣", .syntax, "a '?' before a word marks a key here",
        help: "put the text in quotes: \"?photos\"")),
    BadManifest(
      "an asterisk that is no alias", in: .nothing, "include: [*1️⃣.jpg]",
      .error(
        "1️⃣", .syntax, "an anchor name was expected here",
        help:
          "quote a value that begins with '*' or '&'; anchor names consist of letters, digits, '-' and '_'")),
    BadManifest(
      "a value behind quotes that ended early", in: .nothing, "name: 'it'1️⃣s photos'",
      .error(
        "1️⃣", .syntax, "a key was expected here",
        help: "check the indentation: keys of one mapping start in the same column")),
    BadManifest(
      "a tab before a key", in: .nothing, "sessions:\n1️⃣\tquick: {}",
      .error(
        "1️⃣", .tab, "a tab cannot be used here",
        help: "indent with spaces; YAML does not allow tabs in indentation")),
    BadManifest(
      "a reference in braces without quotes", in: .nothing, "vars: { api: 1️⃣${env.API} }",
      .error(
        "1️⃣", .unquotedReference, "a value with '${' needs quotes inside { } or [ ]",
        help: "put the value in double quotes: \"${…}\"")),
  ]

  /// F0111 to F0116: valid YAML that cannot be a manifest.
  static let structure: [BadManifest] = [
    BadManifest(
      "a misspelt alias, and nothing said of what it would have brought",
      """
      requests:
        first: &common { session: quick, request: { url: https://example.com/ } }
        second: 1️⃣*comon
        third: { <<: 2️⃣*comon, when: always }
        fourth: { session: 3️⃣*quick, request: { url: https://example.com/ } }
      """,
      .error(
        "1️⃣", .unknownAlias, "there is no anchor '&comon' before this alias", help: "did you mean 'common'?"),
      .error(
        "2️⃣", .unknownAlias, "there is no anchor '&comon' before this alias", help: "did you mean 'common'?"),
      .error(
        "3️⃣", .unknownAlias, "there is no anchor '&quick' before this alias",
        help: "define it first with '&quick'")),
    BadManifest(
      "an alias inside its own value", "vars: 2️⃣&all { a: 1️⃣*all }",
      .error(
        "1️⃣", .unknownAlias, "the alias '*all' is inside its own value", help: "write the value out",
        notes: [("2️⃣", "the value begins here")])),
    BadManifest(
      "a key that is there twice", "vars:\n  2️⃣host: a\n  port: b\n  1️⃣host: c",
      .error(
        "1️⃣", .duplicateKey, "duplicate key 'host'", help: "remove one of them",
        notes: [("2️⃣", "first defined here")])),
    BadManifest(
      "a number for a name", "vars: { 1️⃣2026: a }",
      .error(
        "1️⃣", .keyNotString, "a key must be a string, found the number 2026", help: "quote it: \"2026\"")),
    BadManifest(
      "a list for a name", "vars: { 1️⃣[a, b]: c }",
      .error(
        "1️⃣", .keyNotString, "a key must be a string, found a list", help: "write a name before the ':'")),
    BadManifest(
      "a tag of another program", "vars: { key: 1️⃣!vault x }",
      .error(
        "1️⃣", .unknownTag, "the tag '!vault' is not supported", help: "remove the tag; ferry reads plain YAML")
    ),
    BadManifest(
      "a tag that does not fit", "vars: { port: 1️⃣!!int many }",
      .error("1️⃣", .tagMismatch, "the value does not match the tag '!!int'", help: "remove the tag")),
    BadManifest(
      "a merge of a text", "vars: { <<: 1️⃣common, a: b }",
      .error(
        "1️⃣", .mergeOfNoMapping, "'<<' requires a mapping or a list of mappings, found the string 'common'",
        help: "write '<<: *name' or '<<: [*first, *second]'; to use << as a key, quote it: \"<<\"")),
    BadManifest(
      "a merge of an alias that is no mapping", "vars: { a: 2️⃣&a b }\nrequests: { notify: { <<: [1️⃣*a] } }",
      .error(
        "1️⃣", .mergeOfNoMapping,
        "'<<' requires a mapping or a list of mappings, this list contains the string 'b'",
        help: "write '<<: *name' or '<<: [*first, *second]'; to use << as a key, quote it: \"<<\"",
        notes: [("2️⃣", "the value is defined here")])),
    BadManifest(
      "two merges into one mapping", in: .nothing,
      """
      version: 1
      name: photos
      sessions:
        a: &a { kind: ephemeral }
        b: { 2️⃣<<: *a, 1️⃣<<: *a }
      """,
      .error(
        "1️⃣", .duplicateKey, "duplicate key '<<'",
        help: "write one '<<' with a list: <<: [*a, *b]", notes: [("2️⃣", "first defined here")])),
  ]
}
