extension ConditionTimeline {
  static let shape = ObjectSchema<Self>(
    "Timeline", doc: "The network and power of a machine over time.",
    keys: [
      Key(
        "timeline", \.entries, .list(.object(Entry.shape), atLeastOne: true), isRequired: true,
        doc: "The entries, each with a time of day, or a date and time.",
        example: "[{ from: 08:00, network: wifi }]"),
      Key(
        "time_zone", \.timeZone, .timeZone, default: "the machine's",
        doc: "The time zone for times without an offset: a name in the IANA time zone database.",
        example: "Europe/Berlin"),
    ],
    blank: { _, _ in Self() })
}

extension ConditionTimeline.Entry {
  static let shape = ObjectSchema<Self>(
    "Entry", doc: "The conditions starting at a given time. Omitted keys keep their previous values.",
    keys: [
      Key(
        "from", \.from, .timelineMoment, isRequired: true,
        doc: "A time of day, which applies every day, or a date and time.", example: "\"08:00\""),
      Key(
        "network", \.network, .choice(), default: "as before", doc: "The kind of network.", example: "wifi"),
      Key(
        "expensive", \.isExpensive, .boolean, default: "as before",
        doc: "Whether the network is metered.", example: "true"),
      Key(
        "power", \.power, .choice(), default: "as before", doc: "The source of power.", example: "battery"),
    ],
    blank: { _, _ in Self(from: "") })
}

extension ValueKind where Value == String {
  /// A time of day such as `08:00`, or a date and time in RFC 3339 format, whose offset may be omitted.
  fileprivate static var timelineMoment: Self {
    constant("time of day, or date and time").refused { text in
      let isTime = text.wholeMatch(of: /([01][0-9]|2[0-3]):[0-5][0-9]/) != nil
      let isMoment =
        text.wholeMatch(
          of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?/)
        != nil
      guard !isTime, !isMoment else { return nil }
      return Problem(
        .unknownWord, "\(text.quoted) is neither a time of day nor a date and time",
        help: "write a time such as \"08:00\", or a date and time such as 2026-12-24T18:00", showsValue: true)
    }
  }
}
