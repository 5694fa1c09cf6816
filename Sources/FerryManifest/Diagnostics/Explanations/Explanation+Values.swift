extension Explanation {
  static let wrongType = Explanation(
    "A value of the wrong type",
    """
    The key requires a value of a different type, for example a list instead of a string, a string instead of a \
    number, or a number in quotes. The message names the expected and the actual type. In YAML 1.2, unquoted \
    `no`, `on` and `yes` are strings; the booleans are `true` and `false`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          expect: { status: ◊ }
      """, wrong: "200", right: "[200]")

  static let unknownWord = Explanation(
    "An invalid word",
    """
    The key accepts only certain words, and this is not one of them. If a valid word is similar, the help \
    suggests it. Words are written in lower case, with `_` between their parts.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          when: ◊
      """, wrong: "allways", right: "always")

  static let missingUnit = Explanation(
    "A number without a unit",
    """
    A duration or size is a number with a unit: `30s`, `500MB`. A number without a unit is rejected, because \
    it is ambiguous: some programs read it as seconds, others as milliseconds. The help lists the units.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_request: ◊ } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "30", right: "30s")

  static let unknownUnit = Explanation(
    "An unknown unit",
    """
    The units of durations are `ms`, `s`, `m`, `h`, `d` and `w`; those of sizes are `B`, `kB`, `MB`, `GB`, \
    `TB` (powers of 1000) and `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024). Units are case-sensitive: `m` is \
    a minute, and `mb` is not `MB`. Months and years have no fixed length; use days.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_request: ◊ } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "30sec", right: "30s")

  static let fraction = Explanation(
    "A fraction instead of a whole number",
    """
    Durations and sizes are whole numbers, so that rounding never decides whether something is late or too \
    large. Use a smaller unit: `90m` for an hour and a half, `1500MB` for one and a half gigabytes.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_resource: ◊ } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "1.5h", right: "90m")

  static let malformedQuantity = Explanation(
    "A malformed duration or size",
    """
    A duration or size is one whole number followed by one unit, without a space. Words, several units \
    (`1h30m`) and a space between number and unit are not accepted. Use a single unit, such as `90m`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_resource: ◊ } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "1h30m", right: "90m")

  static let outOfRange = Explanation(
    "A duration or size out of range",
    """
    The value is well formed, but smaller or larger than the key allows: a timeout of 0 would end every \
    request at once, and the longest duration is a century. The message names the limit.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { timeout_for_request: ◊ } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "0s", right: "30s")

  static let contradictoryBounds = Explanation(
    "Two bounds that contradict each other",
    """
    The lower of two bounds is above the upper one, so no value lies between them. For `retry`, the first \
    delay (`initial`) must not be longer than the maximum delay (`max`, 5 minutes by default). Change one of \
    the two.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
          retry: { initial: 10m◊ }
      """, wrong: "", right: ", max: 1h")

  static let emptyText = Explanation(
    "An empty string",
    """
    The key needs at least one character. An empty value often comes from an environment or manifest variable \
    that is empty. Specify a value. If the key is optional, you can omit it.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: ◊
      """, wrong: "\"\"", right: "catalog.json")

  static let controlCharacter = Explanation(
    "A control character in a value",
    """
    The value contains a line break, a tab or another control character, from an escape in double quotes, a \
    multi-line text or a variable. Paths, names and similar values must not contain control characters; they are \
    almost always unintended. Remove the character. A block scalar (`|` or `>`) ends with a line break unless you \
    write `|-` or `>-`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: ◊
      """, wrong: "\"new\\tcatalog.json\"", right: "new-catalog.json")

  static let emptyList = Explanation(
    "An empty list",
    """
    The list selects responses or files, but an empty list would not select any. Add at least one element, \
    or remove the key to use its default.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
          expect: { status: [◊] }
      """, wrong: "", right: "200")

  static let invalidName = Explanation(
    "An invalid name",
    """
    Names are used in file names and in references such as `${token.access}`, so they consist of ASCII \
    letters, digits, `_` and `-`, with at most 100 characters. The manifest's `name` and a session's \
    `identifier` may also contain single dots. Choose a different name.
    """,
    in: """
      version: 1
      name: ◊
      """, wrong: "my photos", right: "my-photos")
}
