extension ReportSettings {
  static let shape = ObjectSchema<Self>(
    "Report", doc: "The contents of the report of a run.",
    keys: [
      Key(
        "items", \.items, .choice(),
        doc: """
          The items that the report lists: `notable`, only those that were started but did not succeed on the first \
          attempt; `all`, every item of the run. `--items` overrides it.
          """,
        example: "all")
    ],
    blank: { _, _ in Self() })
}
