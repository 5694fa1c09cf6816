extension Explanation {
  static let wrongType = Explanation(
    "A value of the wrong type",
    """
    The key takes a value of another type: a list where a text is needed, a text where a number is, or \
    quotes around a number. The message says what is wanted and what was found. Plain `no`, `on` and `yes` \
    are texts in YAML 1.2; the truth values are `true` and `false`.
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
    "A word that the key does not know",
    """
    The key takes one of a few words, and this is none of them. The nearest one is named where there is one. \
    Words are written in small letters, with `_` between their parts.
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
    A duration or size is a number with a unit: `30s`, `500MB`. A bare number is refused, because one \
    program's seconds are another's milliseconds. The help names the units.
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
    "A unit that there is not",
    """
    Durations have the units `ms`, `s`, `m`, `h`, `d` and `w`; sizes have `B`, `kB`, `MB`, `GB`, `TB` \
    (powers of 1000) and `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024). Capitals count: `m` is a minute, and \
    `MB` is no `mb`. Months and years have no fixed length; write days.
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
    "A fraction where a whole number is needed",
    """
    Durations and sizes are whole numbers, so that no rounding decides when something is late or too large. \
    Use the next smaller unit: `90m` for an hour and a half, `1500MB` for one and a half gigabytes.
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
    "No number and unit",
    """
    A duration or size is one whole number and, without a space, one unit. Words, several units (`1h30m`) \
    and a space between number and unit are not understood. Write the whole in one unit, such as `90m`.
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
    The value is well written, but smaller or larger than the key can use: a timeout of nothing would end \
    every request at once, and a century is the longest duration. The message names the bound.
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
    Of two values that bound one thing, the lower is above the upper, so no value lies between them. For \
    `retry`, the first wait (`initial`) cannot be longer than the longest one (`max`, 5 minutes where it is \
    not given). Change one of the two.
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
    "An empty text",
    """
    The key needs a text with at least one letter. An empty one is often an environment variable or a \
    variable of the manifest that is set to nothing. Give a value, or leave the key out where it may be \
    absent.
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
    The value has a line end, a tab or another control character in it, by an escape in double quotes, a \
    text over several lines or a variable. Paths, names and the like cannot have one; it is nearly always an \
    accident. Remove it; mind that `|` and `>` end their text with a line end unless `|-` or `>-` is \
    written.
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
    The list says which answers or files count, and an empty one would let none of them through. Name at \
    least one, or remove the key: then its default holds.
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
    "A name that cannot be one",
    """
    Names become the names of files, and words in references such as `${token.access}`, so they have only \
    ASCII letters, digits, `_` and `-`, and at most 100 of them. The manifest's `name` and a session's \
    `identifier` may have single dots too. Choose another name; no other program sees it.
    """,
    in: """
      version: 1
      name: ◊
      """, wrong: "my photos", right: "my-photos")
}
